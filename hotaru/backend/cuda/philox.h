// CUDA's random number generator as PyTorch keeps it: the counter-based Philox
// 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011),
// whose state is a seed and how far draws have come.
#pragma once

#include "hotaru/runtime/generator.h"

namespace hotaru::cuda {

class PhiloxGenerator final : public Generator {
 public:
  static constexpr size_t kStateBytes = 16;

  explicit PhiloxGenerator(int device, uint64_t seed = kDefaultSeed)
      : device_(device), seed_(seed) {}

  Device device() const override {
    return {DeviceType::kCUDA, int8_t(device_)};
  }
  void manual_seed(uint64_t seed) override {
    seed_ = seed;
    offset_ = 0;
  }
  uint64_t initial_seed() const override { return seed_; }
  std::vector<uint8_t> get_state() const override;
  void set_state(std::span<const uint8_t> bytes) override;

  uint64_t offset() const { return offset_; }
  /// Throws unless it is a multiple of four.
  void set_offset(uint64_t offset);
  /// Takes so many draws of each thread: the offset before, and the state moves
  /// on by the next multiple of four.
  uint64_t take(uint64_t draws);

 private:
  const int device_;
  uint64_t seed_;
  uint64_t offset_ = 0;
};

}  // namespace hotaru::cuda
