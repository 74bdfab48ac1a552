// Generators, seeds and what torch::cuda asks.
#include "ATen/core/Generator.h"
#include "hotaru/backend/cpu/random/cpu_generator.h"
#include "hotaru/core/mutex.h"
#include "hotaru/runtime/accelerator.h"
#include "torch/cuda.h"

namespace at {

namespace {

/// A generator that lives as long as the process, as one that is shared.
Generator borrowed(hotaru::Generator& generator) {
  return Generator(hotaru::Ref<hotaru::Generator>(&generator));
}

/// Draws that are queued come before.
void seed_with(hotaru::Generator& generator, uint64_t seed) {
  generator.wait();
  const std::lock_guard lock(generator.mutex());
  generator.manual_seed(seed);
}

}  // namespace

Generator Generator::clone() const {
  const std::lock_guard lock(mutex());
  TORCH_CHECK(device().is_cpu(), "only generators of the CPU can be cloned");
  auto copy = hotaru::make_ref<hotaru::CpuGenerator>();
  copy->set_state(generator_->get_state());
  return Generator(std::move(copy));
}

namespace detail {

const Generator& getDefaultCPUGenerator() {
  static const Generator generator = borrowed(hotaru::default_generator());
  return generator;
}
Generator createCPUGenerator(uint64_t seed) {
  return Generator(hotaru::make_ref<hotaru::CpuGenerator>(seed));
}

}  // namespace detail

void manual_seed(uint64_t seed) {
  seed_with(hotaru::default_generator(), seed);
  if (torch::cuda::is_available()) torch::cuda::manual_seed_all(seed);
}

}  // namespace at

namespace torch::cuda {

size_t device_count() {
  return size_t(hotaru::device_count(hotaru::DeviceType::kCUDA));
}
bool is_available() {
  return device_count() > 0;
}

namespace {

hotaru::Accelerator& accelerator() {
  return dynamic_cast<hotaru::Accelerator&>(
      hotaru::DeviceTable::instance().backend(hotaru::DeviceType::kCUDA));
}

}  // namespace

bool cudnn_is_available() {
  if (!is_available()) return false;
  const auto found = accelerator().libraries("cudnn");
  return !found.empty() && found[0].why_not.empty();
}
void manual_seed(uint64_t seed) {
  hotaru::Accelerator& devices = accelerator();
  at::seed_with(devices.default_generator(devices.current_device()), seed);
}
void manual_seed_all(uint64_t seed) {
  for (size_t i = 0; i < device_count(); ++i)
    at::seed_with(accelerator().default_generator(int(i)), seed);
}
void synchronize(int64_t device_index) {
  hotaru::Accelerator& devices = accelerator();
  devices.synchronize(device_index < 0 ? devices.current_device()
                                       : int(device_index));
}

}  // namespace torch::cuda
