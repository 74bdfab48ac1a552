// The CPU's random number generator: PyTorch's stream of draws and its saved
// state, bit for bit.
#pragma once

#include <optional>

#include "hotaru/backend/cpu/random/mt19937.h"
#include "hotaru/runtime/generator.h"

namespace hotaru {

class CpuGenerator final : public Generator {
 public:
  /// Bytes of a saved state.
  static constexpr size_t kStateBytes = 5056;

  explicit CpuGenerator(uint64_t seed = kDefaultSeed) { start(seed); }

  Device device() const override { return {}; }
  /// The engine uses the lower 32 bits. Forgets cached normal draws.
  void manual_seed(uint64_t seed) override { start(seed); }
  uint64_t initial_seed() const override { return initial_seed_; }

  uint32_t random() { return engine_(); }
  /// Two draws, the first in the upper half.
  uint64_t random64() {
    uint64_t high = random();
    return high << 32 | random();
  }

  /// Uniform in [0, 1): 24 bits of one draw.
  float uniform_float() { return float(random() & 0xffffffu) * 0x1p-24f; }
  /// Uniform in [0, 1): 53 bits of random64().
  double uniform_double() {
    return double(random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
  }
  /// Standard normal by Box and Muller's method; every second call returns
  /// the sine that the call before it left.
  double normal_double();

  /// Words of the following draws, see Mt19937::take.
  const uint32_t* take(int64_t& count) { return engine_.take(count); }

  std::vector<uint8_t> get_state() const override;
  void set_state(std::span<const uint8_t> bytes) override;

 private:
  void start(uint64_t seed);

  uint64_t initial_seed_ = 0;
  Mt19937 engine_;
  std::optional<double> next_normal_double_;
  // PyTorch saves one, though its CPU kernels draw in double only.
  std::optional<float> next_normal_float_;
};

}  // namespace hotaru
