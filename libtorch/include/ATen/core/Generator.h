// Where random operators draw from.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "c10/core/Device.h"
#include "c10/util/intrusive_ptr.h"
#include "hotaru/runtime/generator.h"

namespace c10 {
/// Type that Generator::getIntrusivePtr() points to.
using GeneratorImpl = hotaru::Generator;
}  // namespace c10

namespace at {

class Tensor;

/// A handle to a generator; copying shares it.
class Generator {
 public:
  Generator() = default;
  explicit Generator(hotaru::Ref<hotaru::Generator> generator)
      : generator_(std::move(generator)) {}
  explicit Generator(const c10::intrusive_ptr<c10::GeneratorImpl>& generator)
      : generator_(generator.ref()) {}

  bool defined() const { return bool(generator_); }
  hotaru::Generator* get() const { return generator_.get(); }
  c10::intrusive_ptr<c10::GeneratorImpl> getIntrusivePtr() const {
    return c10::intrusive_ptr<c10::GeneratorImpl>(generator_);
  }
  hotaru::Mutex& mutex() const { return generator_->mutex(); }

  void set_current_seed(uint64_t seed) { generator_->manual_seed(seed); }
  uint64_t current_seed() const { return generator_->initial_seed(); }
  uint64_t seed() { return generator_->seed(); }
  c10::Device device() const { return c10::Device(generator_->device()); }
  Generator clone() const;
  /// PyTorch's bytes, after the draws that are queued.
  Tensor get_state() const;
  /// Throws for what is no state of such a generator.
  void set_state(const Tensor& state);

  bool operator==(const Generator& other) const {
    return generator_.get() == other.generator_.get();
  }
  bool operator!=(const Generator& other) const { return !(*this == other); }

 private:
  hotaru::Ref<hotaru::Generator> generator_;
};

namespace detail {
/// The CPU's, which operators draw from unless they are given another.
const Generator& getDefaultCPUGenerator();
/// One of its own, with a seed or the default's.
Generator createCPUGenerator(uint64_t seed = hotaru::Generator::kDefaultSeed);
}  // namespace detail

/// Seeds the generators of all devices.
void manual_seed(uint64_t seed);

}  // namespace at
