// One batch over several GPUs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "torch/nn/cloneable.h"
#include "torch/nn/pimpl.h"
#include "torch/types.h"

namespace torch::nn::parallel {

namespace detail {

/// The input's parts along `dim`, each on its device; gradients go back.
std::vector<Tensor> scatter(const Tensor& input,
                            const std::vector<Device>& devices, int64_t dim);
/// The parts along `dim` as one tensor on the device.
Tensor gather(const std::vector<Tensor>& parts, Device device, int64_t dim);
/// Makes the replica's parameters copies of the module's, to which their
/// gradients flow.
void connect(const Module& module, Module& replica);
/// All GPUs. Throws if there is none.
std::vector<Device> all_devices();

}  // namespace detail

/// Copies of a Cloneable, one a device. Gradients of their parameters arrive at
/// the module's.
template <class M>
std::vector<std::shared_ptr<M>> replicate(const std::shared_ptr<M>& module,
                                          const std::vector<Device>& devices) {
  std::vector<std::shared_ptr<M>> replicas;
  replicas.reserve(devices.size());
  for (const Device& device : devices) {
    replicas.push_back(std::dynamic_pointer_cast<M>(module->clone(device)));
    detail::connect(*module, *replicas.back());
  }
  return replicas;
}
template <class M>
std::vector<ModuleHolder<M>> replicate(const ModuleHolder<M>& module,
                                       const std::vector<Device>& devices) {
  std::vector<ModuleHolder<M>> replicas;
  for (auto& replica : replicate(module.ptr(), devices))
    replicas.emplace_back(std::move(replica));
  return replicas;
}

/// Each module's forward of its input. Devices work beside each other: calls
/// only launch what they compute.
template <class M>
std::vector<Tensor> parallel_apply(
    std::vector<M>& modules, const std::vector<Tensor>& inputs,
    const std::optional<std::vector<Device>>& devices = std::nullopt) {
  TORCH_CHECK(modules.size() == inputs.size(), "Must have as many inputs as ",
              "modules (got ", inputs.size(), " and ", modules.size(), ")");
  TORCH_CHECK(!devices || devices->size() == modules.size(),
              "Must have as many devices as modules");
  std::vector<Tensor> outputs;
  outputs.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor output = modules[i]->forward(inputs[i]);
    outputs.push_back(devices ? output.to((*devices)[i]) : output);
  }
  return outputs;
}

/// forward of a batch, whose parts along `dim` go to the devices: by default
/// all GPUs. The result is on output_device, by default the first one.
template <class M>
Tensor data_parallel(M module, const Tensor& input,
                     std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt,
                     int64_t dim = 0) {
  if (!devices) devices = detail::all_devices();
  TORCH_CHECK(!devices->empty(), "data_parallel: there are no devices");
  const Device output = output_device.value_or(devices->front());
  if (devices->size() == 1) {
    module->to(devices->front());
    return module->forward(input.to(devices->front())).to(output);
  }
  const std::vector<Tensor> parts = detail::scatter(input, *devices, dim);
  devices->resize(parts.size(), devices->front());
  auto replicas = replicate(module, *devices);
  return detail::gather(parallel_apply(replicas, parts), output, dim);
}

}  // namespace torch::nn::parallel
