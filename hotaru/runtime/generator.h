// The CPU's random number generator: PyTorch's stream of draws and its saved
// state, bit for bit.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "hotaru/core/device.h"
#include "hotaru/core/mutex.h"
#include "hotaru/core/ordered.h"
#include "hotaru/runtime/mt19937.h"

namespace hotaru {

/// Callers hold mutex() around draws and state changes that belong together;
/// no method locks by itself. Host code calls wait() first: queued draws come
/// before.
class Generator : public Ordered {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721u;
  /// Bytes of a saved state.
  static constexpr size_t kStateBytes = 5056;

  explicit Generator(uint64_t seed = kDefaultSeed) { manual_seed(seed); }

  /// Starts the stream of a seed; the engine uses its lower 32 bits. Forgets
  /// cached normal draws.
  void manual_seed(uint64_t seed);
  /// Seeds from the system's entropy and returns the seed.
  uint64_t seed();
  /// The seed last set.
  uint64_t initial_seed() const { return initial_seed_; }

  uint32_t random() { return engine_(); }
  /// Two draws, the first in the upper half.
  uint64_t random64() {
    uint64_t high = random();
    return high << 32 | random();
  }

  /// Uniform in [0, 1): 24 bits of one draw.
  float uniform_float() {
    return static_cast<float>(random() & 0xffffffu) * 0x1p-24f;
  }
  /// Uniform in [0, 1): 53 bits of random64().
  double uniform_double() {
    return static_cast<double>(random64() & ((uint64_t{1} << 53) - 1)) *
           0x1p-53;
  }
  /// Standard normal by Box and Muller's method; every second call returns
  /// the sine that the call before it left.
  double normal_double();

  /// Words of the following draws, see Mt19937::take.
  const uint32_t* take(int64_t& count) { return engine_.take(count); }

  /// PyTorch's byte format: torch.get_rng_state() of a CPU generator.
  std::vector<uint8_t> get_state() const;
  /// Throws Error unless the bytes are a state that get_state may give.
  void set_state(std::span<const uint8_t> bytes);

  Mutex& mutex() { return mutex_; }

 private:
  uint64_t initial_seed_ = 0;
  Mt19937 engine_;
  std::optional<double> next_normal_double_;
  // PyTorch saves one, though its CPU kernels draw in double only.
  std::optional<float> next_normal_float_;
  Mutex mutex_;
};

/// The generator that a device type's random operators draw from unless they
/// are given another. Seeded with kDefaultSeed.
Generator& default_generator(DeviceType type = DeviceType::kCPU);

}  // namespace hotaru
