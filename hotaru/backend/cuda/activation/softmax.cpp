// Launching softmax, its logarithm and their gradients; see params/softmax.h.
#include "hotaru/backend/cuda/params/softmax.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

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
  SoftmaxParams p;
  const auto dim = size_t(call.attributes<LineAttributes>().dim);
  if (in.dim() > 0) {
    HOTARU_CHECK(in.sizes()[dim] < kMostElements, call.kernel().name(),
                 " over 2^31 elements and more is not implemented for CUDA");
    p.length = uint32_t(in.sizes()[dim]);
    p.out_step = bytes(&out, dim);
    p.in_step = bytes(&in, dim);
    p.result_step = bytes(result, dim);
  }
  Geometry<3> others;
  others.address = {
      static_cast<char*>(device_address(out)),
      static_cast<char*>(device_address(in)),
      result ? static_cast<char*>(device_address(*result)) : nullptr};
  for (size_t d = Geometry<3>::checked_dims(in.sizes()); d-- > 0;)
    if (d != dim)
      others.add(in.sizes()[d],
                 {bytes(&out, d), bytes(&in, d), bytes(result, d)});
  others.for_parts([&](const Geometry<3>& part) {
    p.out = part.address[0];
    p.in = part.address[1];
    p.result = part.address[2];
    p.lines = uint32_t(part.numel());
    p.others = part.index();
    plan_softmax(p, int64_t(itemsize(in.dtype())));
    launch(functions.of(in.dtype()), {softmax_blocks(p)}, kBlock, p);
  });
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
