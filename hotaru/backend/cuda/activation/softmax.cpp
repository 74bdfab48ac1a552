// Launching softmax, its logarithm and their gradients; see params/softmax.h.
#include "hotaru/backend/cuda/params/softmax.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/error.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kSoftmaxTypes{1, "softmax_kernel_impl"};
constexpr KernelTypes<FloatingTypes> kLogTypes{1, "log_softmax_kernel_impl"};
constexpr KernelTypes<FloatingTypes> kBackwardTypes{2, "softmax_backward"};
constexpr KernelTypes<FloatingTypes> kLogBackwardTypes{2,
                                                       "log_softmax_backward"};

int64_t bytes(const Tensor* t, size_t dim) {
  return t ? t->strides()[dim] * int64_t(itemsize(t->dtype())) : 0;
}

void run(const KernelCall& call, const Functions& functions, const Tensor& out,
         const Tensor& in, const Tensor* result) {
  if (in.numel() == 0) return;
  HOTARU_CHECK(in.numel() < kMostElements, call.kernel().name(),
               " of 2^31 elements and more is not implemented for CUDA yet");
  SoftmaxParams p;
  p.out = device_address(out);
  p.in = device_address(in);
  p.result = result ? device_address(*result) : nullptr;
  const auto dim = size_t(call.attributes<LineAttributes>().dim);
  if (in.dim() > 0) {
    p.length = uint32_t(in.sizes()[dim]);
    p.out_step = bytes(&out, dim);
    p.in_step = bytes(&in, dim);
    p.result_step = bytes(result, dim);
  }
  p.lines = uint32_t(in.numel() / p.length);
  for (size_t d = size_t(in.dim()); d-- > 0;)
    if (d != dim)
      HOTARU_CHECK(p.others.add(in.sizes()[d], {bytes(&out, d), bytes(&in, d),
                                                bytes(result, d)}),
                   "more than ", Index<3>::kMaxDims,
                   " dimensions that cannot be merged");
  plan_softmax(p, int64_t(itemsize(in.dtype())));
  launch(functions.of(in.dtype()), {softmax_blocks(p)}, kBlock, p);
}

/// Operands: result, input.
template <const auto& types, bool kLog>
void forward(const KernelCall& call) {
  static constinit const Functions functions(kLog ? "LogSoftmax" : "Softmax");
  check_types<types>(call);
  run(call, functions, call.tensor(0), call.tensor(1), nullptr);
}

/// Operands: gradient of the input, gradient of the result, result.
template <const auto& types, bool kLog>
void backward(const KernelCall& call) {
  static constinit const Functions functions(kLog ? "LogSoftmaxGrad"
                                                  : "SoftmaxGrad");
  check_types<types>(call);
  run(call, functions, call.tensor(0), call.tensor(1), &call.tensor(2));
}

HOTARU_KERNEL(kCUDA, "softmax", (forward<kSoftmaxTypes, false>));
HOTARU_KERNEL(kCUDA, "log_softmax", (forward<kLogTypes, true>));
HOTARU_KERNEL(kCUDA, "softmax_backward", (backward<kBackwardTypes, false>));
HOTARU_KERNEL(kCUDA, "log_softmax_backward",
              (backward<kLogBackwardTypes, true>));

}  // namespace
}  // namespace hotaru::cuda
