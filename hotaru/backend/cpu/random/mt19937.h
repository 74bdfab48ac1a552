// The Mersenne Twister MT19937 (Matsumoto and Nishimura 1998), equal to
// std::mt19937 draw by draw, with its state open for saving and for reading
// many draws at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace hotaru {

/// Not thread-safe.
class Mt19937 {
 public:
  static constexpr int kStateSize = 624;

  /// State that a checkpoint holds. left - 1 draws remain, the next one at
  /// words[next]; a fresh engine has left 1 and next 0.
  struct State {
    std::array<uint32_t, kStateSize> words;
    int left = 1;
    int next = 0;

    bool valid() const {
      return left >= 1 && next >= 0 && next + left - 1 <= kStateSize;
    }
  };

  explicit Mt19937(uint32_t seed = 5489) { this->seed(seed); }
  /// Continues from a state; the caller checked valid().
  explicit Mt19937(const State& state) : state_(state) {}

  void seed(uint32_t seed) {
    state_.words[0] = seed;
    for (uint32_t i = 1; i < kStateSize; ++i) {
      uint32_t last = state_.words[i - 1];
      state_.words[i] = 1812433253u * (last ^ (last >> 30)) + i;
    }
    state_.left = 1;
    state_.next = 0;
  }

  /// A draw, uniform over 32 bits.
  uint32_t operator()() {
    int64_t one = 1;
    return temper(*take(one));
  }

  /// Advances over the next draws, at most count > 0 of them, and returns the
  /// words whose temper() they are; count becomes how many. Valid until the
  /// next call.
  const uint32_t* take(int64_t& count) {
    if (state_.left == 1) refill();
    count = std::min<int64_t>(count, state_.left - 1);
    const uint32_t* words = state_.words.data() + state_.next;
    state_.next += int(count);
    state_.left -= int(count);
    return words;
  }

  static constexpr uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  const State& state() const { return state_; }

 private:
  static constexpr int kMiddle = 397;

  static constexpr uint32_t twist(uint32_t upper, uint32_t lower) {
    uint32_t mixed = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return (mixed >> 1) ^ ((0u - (lower & 1u)) & 0x9908b0dfu);
  }

  void refill() {
    uint32_t* s = state_.words.data();
    constexpr int kRest = kStateSize - kMiddle;
    for (int i = 0; i < kRest; ++i)
      s[i] = s[i + kMiddle] ^ twist(s[i], s[i + 1]);
    for (int i = kRest; i < kStateSize - 1; ++i)
      s[i] = s[i - kRest] ^ twist(s[i], s[i + 1]);
    s[kStateSize - 1] = s[kMiddle - 1] ^ twist(s[kStateSize - 1], s[0]);
    state_.left = kStateSize + 1;
    state_.next = 0;
  }

  State state_;
};

}  // namespace hotaru
