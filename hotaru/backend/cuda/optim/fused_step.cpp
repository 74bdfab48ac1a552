// Launching optimizers' steps, a launch for many tensors; see params/optim.h.
#include "hotaru/backend/common/optim/fused_step.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/optim.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kTypes{0, "fused_step"};

void* address_of(const Tensor& t) {
  return t.defined() ? device_address(t) : nullptr;
}
const float* number_of(const Tensor& t) {
  return static_cast<const float*>(address_of(t));
}

StepTensor tensor_of(const KernelCall& call, size_t first) {
  StepTensor out;
  out.param = device_address(call.tensor(first));
  out.grad = device_address(call.tensor(first + 1));
  for (size_t k = 0; k < kStepStates; ++k)
    out.state[k] = address_of(call.tensor(first + 2 + k));
  out.step = number_of(call.tensor(first + kStepOperands - 1));
  out.numel = uint64_t(call.tensor(first).numel());
  return out;
}

/// Fills launches with stretches of tensors.
class Launches {
 public:
  Launches(const Function& function, const FusedStepParams& common)
      : function_(function), params_(common) {}

  void add(const StepTensor& tensor) {
    if (tensors_ == FusedStepParams::kTensors) flush();
    params_.tensors[tensors_++] = tensor;
    const uint64_t stretches = (tensor.numel - 1) / kStepItems + 1;
    for (uint64_t i = 0; i < stretches; ++i) {
      if (blocks_ == FusedStepParams::kBlocks) {
        flush();
        params_.tensors[tensors_++] = tensor;
      }
      params_.tensor[blocks_] = uint8_t(tensors_ - 1);
      params_.stretch[blocks_++] = uint32_t(i);
    }
  }
  void flush() {
    launch(function_, {blocks_}, kBlock, params_);
    blocks_ = tensors_ = 0;
  }

 private:
  const Function& function_;
  FusedStepParams params_;
  uint32_t tensors_ = 0, blocks_ = 0;
};

void fused_step(const KernelCall& call) {
  check_types<kTypes>(call);
  static constinit const Functions functions("FusedStep");
  const size_t last = call.operands().size() - kStepExtras;
  FusedStepParams p;
  p.a = call.attributes<FusedStep>();
  p.grad_scale = number_of(call.tensor(last));
  p.found_inf = number_of(call.tensor(last + 1));
  const Tensor& rate = call.tensor(last + 2);
  if (rate.defined() && rate.dtype() == DType::kFloat64)
    p.wide_rate = static_cast<const double*>(device_address(rate));
  else
    p.rate = number_of(rate);
  p.numbers =
      static_cast<const StepOptions*>(address_of(call.tensor(last + 3)));
  Launches launches(functions.of(call.tensor(0).dtype()), p);
  for (size_t k = 0; k < last; k += kStepOperands)
    launches.add(tensor_of(call, k));
  launches.flush();
}

HOTARU_KERNEL(kCUDA, "fused_step", fused_step);

}  // namespace
}  // namespace hotaru::cuda
