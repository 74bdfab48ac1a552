// Where random operators draw from: what generators of all devices have in
// common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hotaru/core/device.h"
#include "hotaru/core/mutex.h"
#include "hotaru/core/ordered.h"

namespace hotaru {

/// How it draws is its device's business. Callers hold mutex() around draws and
/// state changes that belong together; no method locks by itself. Host code
/// calls wait() first: queued draws come before.
class Generator : public Ordered {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721u;

  /// Whose tensors it fills.
  virtual Device device() const = 0;
  /// Starts the stream of a seed.
  virtual void manual_seed(uint64_t seed) = 0;
  /// The seed last set.
  virtual uint64_t initial_seed() const = 0;
  /// Seeds from the system's entropy and returns the seed.
  uint64_t seed();

  /// PyTorch's byte format of the device's generator.
  virtual std::vector<uint8_t> get_state() const = 0;
  /// Throws Error unless the bytes are a state that get_state may give.
  virtual void set_state(std::span<const uint8_t> bytes) = 0;

  Mutex& mutex() { return mutex_; }

 private:
  Mutex mutex_;
};

/// The generator that random operators on a device draw from unless they are
/// given another. Seeded with kDefaultSeed; the CPU's from system entropy.
Generator& default_generator(Device device = {});

}  // namespace hotaru
