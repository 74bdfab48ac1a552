// Numbers by which the GPU in software shuffles whatever has no order.
#pragma once

#include <cstdint>
#include <numeric>

namespace hotaru::soft_gpu {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}

  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1DULL >> 16;
  }
  /// Below n, which is positive.
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

/// The numbers below n, each once, from a random one on by a random stride.
class Shuffled {
 public:
  Shuffled(uint64_t n, Random& random)
      : n_(n), at_(random.below(n)), stride_(random.below(n) | 1) {
    while (std::gcd(stride_, n_) != 1) stride_ = stride_ % n_ + 1;
  }

  uint64_t next() {
    const uint64_t result = at_;
    at_ = (at_ + stride_) % n_;
    return result;
  }

 private:
  uint64_t n_, at_, stride_;
};

}  // namespace hotaru::soft_gpu
