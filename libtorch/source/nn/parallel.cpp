#include "c10/core/GradMode.h"
#include "hotaru/autograd/node.h"
#include "torch/cuda.h"
#include "torch/nn/parallel/data_parallel.h"

namespace torch::nn::parallel::detail {

std::vector<Tensor> scatter(const Tensor& input,
                            const std::vector<Device>& devices, int64_t dim) {
  std::vector<Tensor> parts = input.chunk(int64_t(devices.size()), dim);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].to(devices[i]);
  return parts;
}

Tensor gather(const std::vector<Tensor>& parts, Device device, int64_t dim) {
  std::vector<Tensor> there;
  there.reserve(parts.size());
  for (const Tensor& part : parts) there.push_back(part.to(device));
  return torch::cat(there, dim);
}

void connect(const Module& module, Module& replica) {
  const auto copies = replica.named_parameters();
  for (const auto& item : module.named_parameters()) {
    const Tensor& original = item.value();
    const Tensor& copy = copies[item.key()];
    if (!original.requires_grad() || !GradMode::is_enabled()) continue;
    copy.set_requires_grad(false);
    // Also where both are on one device: a tensor of its own.
    const Tensor made =
        original.to(copy.device(), original.scalar_type(), false, true);
    copy.set_data(made.detach());
    hotaru::autograd::take_history(copy.hotaru_tensor(), made.hotaru_tensor());
  }
}

std::vector<Device> all_devices() {
  const size_t count = torch::cuda::device_count();
  TORCH_CHECK(count > 0, "data_parallel: no GPU was found");
  std::vector<Device> devices;
  for (size_t i = 0; i < count; ++i)
    devices.emplace_back(kCUDA, c10::DeviceIndex(i));
  return devices;
}

}  // namespace torch::nn::parallel::detail
