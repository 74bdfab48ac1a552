// Programs of torch.export, to run.
#pragma once

#include <string>
#include <vector>

#include "torch/jit.h"

namespace torch::inductor {

/// Reads a .pt2 of torch.export.save. One that holds compiled code and no
/// program is refused.
class AOTIModelPackageLoader {
 public:
  explicit AOTIModelPackageLoader(const std::string& path,
                                  const std::string& = "model", bool = false,
                                  size_t = 1, c10::DeviceIndex device = -1)
      : module_(jit::load(path)) {
    if (device >= 0) module_.to(c10::Device(c10::kCUDA, device));
  }
  /// Tensors of the result, in order; throws where it has others.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const {
    const NoGradGuard no_grad;
    std::vector<at::Tensor> out;
    collect(module_.forward(jit::Stack(inputs.begin(), inputs.end())), out);
    return out;
  }

 private:
  static void collect(const jit::IValue& value, std::vector<at::Tensor>& out) {
    if (value.isTuple()) {
      for (const jit::IValue& item : value.toTuple()->elements())
        collect(item, out);
    } else if (value.isList()) {
      for (const jit::IValue& item : value.toListRef()) collect(item, out);
    } else {
      out.push_back(value.toTensor());
    }
  }

  jit::Module module_;
};

}  // namespace torch::inductor
