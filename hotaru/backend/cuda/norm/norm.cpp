// Launching normalisation; see params/norm.h.
#include "hotaru/backend/common/norm/norm.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/norm.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kRowTypes{3, "LayerNormKernelImpl"};
constexpr KernelTypes<FloatingTypes> kRowGradTypes{
    3, "LayerNormBackwardKernelImpl"};
constexpr KernelTypes<FloatingTypes> kBatchTypes{5, "batch_norm"};
constexpr KernelTypes<FloatingTypes> kBatchGradTypes{3, "batch_norm_backward"};

void* address_of(const Tensor& t) {
  return t.defined() && t.numel() > 0 ? device_address(t) : nullptr;
}

/// Its address; `wide` gets the bit if it is not of x's dtype.
void* parameter(NormParams& p, const Tensor& t, const Tensor& x, Wide bit) {
  if (t.defined() && t.dtype() != x.dtype()) p.wide |= bit;
  return address_of(t);
}

int processors() {
  return properties(launching_timeline().device()).processors;
}

void run(const Functions& functions, const Tensor& x, unsigned blocks,
         const NormParams& p, unsigned splits = 1) {
  launch(functions.of(x.dtype()), {blocks, splits}, kBlock, p);
}

constinit const Functions row_norm_functions("RowNorm"),
    row_grad_functions("RowNormGrad"), running_functions("ChannelRunning"),
    scale_functions("ChannelScale"), channel_grad_functions("ChannelGrad");

/// Functions that sum up for each weight, and join the sums of splits.
struct WeightFunctions {
  Functions first, second;
  constexpr explicit WeightFunctions(std::string_view name)
      : first(name), second(name, "_2") {}
};
constinit const WeightFunctions channel_moments("ChannelMoments"),
    channel_sums("ChannelSums");

void run_weights(const WeightFunctions& functions, const Tensor& x,
                 NormParams& p) {
  if (p.weights == 0) return;
  plan_weights(p, processors());
  const Workspace workspace{size_t(workspace_bytes(p))};
  p.workspace = workspace.data();
  run(functions.first, x, weight_blocks(p), p, p.splits);
  if (p.splits > 1) run(functions.second, x, second_weight_blocks(p), p);
}

NormParams params_of(const Tensor& x) {
  HOTARU_CHECK(x.numel() < kMostElements,
               "normalisation of 2^31 elements and more is not implemented for "
               "CUDA yet");
  NormParams p;
  p.x = address_of(x);
  return p;
}

NormParams row_params(const RowNormAttributes& a, const Tensor& x) {
  NormParams p = params_of(x);
  p.rows = uint32_t(a.rows);
  p.columns = uint32_t(a.columns);
  p.step = uint32_t(a.step);
  p.period = Divider(a.step == 0 ? 1 : uint32_t(a.period));
  p.inner = Divider(uint32_t(std::max<int64_t>(a.inner, 1)));
  p.eps = a.eps;
  return p;
}

/// Operands: result, mean, rstd, input, weight, bias.
void row_norm(const KernelCall& call) {
  check_types<kRowTypes>(call);
  const Tensor& x = call.tensor(3);
  const auto& a = call.attributes<RowNormAttributes>();
  if (a.rows == 0) return;
  NormParams p = row_params(a, x);
  p.out = address_of(call.tensor(0));
  p.mean = device_address(call.tensor(1));
  p.rstd = device_address(call.tensor(2));
  p.weight = parameter(p, call.tensor(4), x, kWideWeight);
  p.bias = parameter(p, call.tensor(5), x, kWideBias);
  plan_rows(p, int64_t(itemsize(x.dtype())));
  run(row_norm_functions, x, norm_blocks(p), p);
}

/// Operands: gradients of input, weight and bias; gradient, input, mean, rstd,
/// weight.
void row_norm_grad(const KernelCall& call) {
  check_types<kRowGradTypes>(call);
  const Tensor &gx = call.tensor(0), &gw = call.tensor(1), &gb = call.tensor(2);
  const Tensor& x = call.tensor(4);
  const auto& a = call.attributes<RowNormAttributes>();
  NormParams p = row_params(a, x);
  p.grad = address_of(call.tensor(3));
  p.mean = address_of(call.tensor(5));
  p.rstd = address_of(call.tensor(6));
  p.weight = parameter(p, call.tensor(7), x, kWideWeight);
  if (gx.defined() && a.rows > 0) {
    p.out = address_of(gx);
    plan_rows(p, int64_t(itemsize(x.dtype())));
    run(row_grad_functions, x, norm_blocks(p), p);
  }
  const Tensor& any = gw.defined() ? gw : gb;
  if (!any.defined()) return;
  p.weight_grad = parameter(p, gw, x, kWideWeightGrad);
  p.bias_grad = parameter(p, gb, x, kWideBiasGrad);
  p.weights = uint32_t(any.numel());
  p.count = p.rows / p.period.divisor * p.inner.divisor;
  run_weights(channel_sums, x, p);
}

NormParams channel_params(const BatchNormAttributes& a, const Tensor& x) {
  NormParams p = params_of(x);
  int64_t inner = 1;
  for (int64_t d = 2; d < x.dim(); ++d) inner *= x.size(d);
  p.rows = uint32_t(x.size(0) * x.size(1));
  p.columns = uint32_t(inner);
  p.weights = uint32_t(x.size(1));
  p.count = uint32_t(x.size(0) * inner);
  p.period = Divider(uint32_t(std::max<int64_t>(x.size(1), 1)));
  p.inner = Divider(uint32_t(std::max<int64_t>(inner, 1)));
  p.step = 1;
  p.training = a.training;
  p.eps = a.eps;
  p.momentum = a.momentum;
  return p;
}

/// Operands: result, mean, rstd, running mean and variance, input, weight,
/// bias. Statistics are not rounded to the parameters' dtype, as PyTorch's are
/// not on CUDA.
void batch_norm(const KernelCall& call) {
  check_types<kBatchTypes>(call);
  const Tensor& x = call.tensor(5);
  const auto& a = call.attributes<BatchNormAttributes>();
  NormParams p = channel_params(a, x);
  if (p.weights == 0) return;
  p.out = address_of(call.tensor(0));
  p.mean = device_address(call.tensor(1));
  p.rstd = device_address(call.tensor(2));
  p.running_mean = parameter(p, call.tensor(3), x, kWideRunningMean);
  p.running_var = parameter(p, call.tensor(4), x, kWideRunningVar);
  p.weight = parameter(p, call.tensor(6), x, kWideWeight);
  p.bias = parameter(p, call.tensor(7), x, kWideBias);
  if (a.training)
    run_weights(channel_moments, x, p);
  else
    run(running_functions, x, unsigned(ceil_divide(p.weights, kBlock)), p);
  plan_elements(p, int64_t(itemsize(x.dtype())));
  run(scale_functions, x, element_blocks(p), p);
}

/// Operands as of row_norm_grad.
void batch_norm_grad(const KernelCall& call) {
  check_types<kBatchGradTypes>(call);
  const Tensor &gx = call.tensor(0), &x = call.tensor(4);
  const auto& a = call.attributes<BatchNormAttributes>();
  NormParams p = channel_params(a, x);
  if (p.weights == 0) return;
  p.grad = address_of(call.tensor(3));
  p.mean = device_address(call.tensor(5));
  p.rstd = device_address(call.tensor(6));
  p.weight = parameter(p, call.tensor(7), x, kWideWeight);
  p.weight_grad = parameter(p, call.tensor(1), x, kWideWeightGrad);
  p.bias_grad = parameter(p, call.tensor(2), x, kWideBiasGrad);
  const size_t item = itemsize(x.dtype());
  const Workspace sums{2 * size_t(p.weights) * std::max<size_t>(item, 4)};
  p.sums = sums.data();
  run_weights(channel_sums, x, p);
  if (!gx.defined()) return;
  p.out = address_of(gx);
  plan_elements(p, int64_t(item));
  run(channel_grad_functions, x, element_blocks(p), p);
}

HOTARU_KERNEL(kCUDA, "row_norm", row_norm);
HOTARU_KERNEL(kCUDA, "row_norm_grad", row_norm_grad);
HOTARU_KERNEL(kCUDA, "batch_norm", batch_norm);
HOTARU_KERNEL(kCUDA, "batch_norm_grad", batch_norm_grad);

}  // namespace
}  // namespace hotaru::cuda
