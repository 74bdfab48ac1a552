// Generators and seeds.
#include <algorithm>

#include "ATen/Context.h"
#include "ATen/Functions.h"
#include "ATen/core/Generator.h"
#include "hotaru/backend/cpu/random/cpu_generator.h"
#include "hotaru/core/mutex.h"
#include "source/seed.h"
#include "torch/cuda.h"

namespace at {

namespace {

/// A generator that lives as long as the process, as one that is shared.
Generator borrowed(hotaru::Generator& generator) {
  return Generator(hotaru::Ref<hotaru::Generator>(&generator));
}

}  // namespace

void seed_with(hotaru::Generator& generator, uint64_t seed) {
  generator.wait();
  const std::lock_guard lock(generator.mutex());
  generator.manual_seed(seed);
}

Generator Generator::clone() const {
  const std::lock_guard lock(mutex());
  TORCH_CHECK(device().is_cpu(), "only generators of the CPU can be cloned");
  auto copy = hotaru::make_ref<hotaru::CpuGenerator>();
  copy->set_state(generator_->get_state());
  return Generator(std::move(copy));
}

Tensor Generator::get_state() const {
  generator_->wait();
  const std::lock_guard lock(mutex());
  const std::vector<uint8_t> bytes = generator_->get_state();
  const Tensor out = at::empty({int64_t(bytes.size())}, c10::kByte);
  std::ranges::copy(bytes, out.data_ptr<uint8_t>());
  return out;
}
void Generator::set_state(const Tensor& state) {
  TORCH_CHECK_TYPE(state.scalar_type() == c10::kByte && state.is_cpu(),
                   "RNG state must be a torch.ByteTensor");
  const Tensor bytes = state.contiguous();
  generator_->wait();
  const std::lock_guard lock(mutex());
  generator_->set_state(
      {bytes.data_ptr<uint8_t>(), static_cast<size_t>(bytes.numel())});
}

Generator Context::defaultGenerator(c10::Device device) const {
  if (device.is_cpu()) return detail::getDefaultCPUGenerator();
  return borrowed(hotaru::default_generator(to_hotaru(device)));
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
