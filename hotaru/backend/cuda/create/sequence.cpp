// Launching what counts; see params/sequence.h.
#include "hotaru/backend/cuda/params/sequence.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

void run(const Functions& functions, const Tensor& out, SequenceParams p) {
  auto* to = static_cast<char*>(device_address(out));
  const auto item = int64_t(itemsize(out.dtype()));
  const Function& function = functions.of(out.dtype());
  p.count = out.numel();
  for (; p.first < p.count; p.first += p.numel) {
    p.out = to + p.first * item;
    p.numel = uint32_t(std::min<int64_t>(p.count - p.first, most_elements()));
    launch(function, {blocks_for(p.numel, kStridedItems)}, kBlock, p);
  }
}

constexpr KernelTypes<RealTypes> kArangeTypes{0, "arange_cuda"};
constexpr KernelTypes<RealTypes> kLinspaceTypes{0, "linspace_cuda"};

/// Operand: a row-major vector. Attributes: PointwiseNumbers, start and step.
void arange(const KernelCall& call) {
  const auto& numbers = call.attributes<PointwiseNumbers>();
  SequenceParams p;
  kArangeTypes.visit(call, [&]<class T>() {
    using C = std::conditional_t<std::is_integral_v<T>, int64_t, OpMath<T>>;
    p.set(numbers.a.to<C>(), numbers.b.to<C>());
  });
  static constinit const Functions functions("Arange");
  run(functions, call.tensor(0), p);
}

/// Operand: a row-major vector. Attributes: PointwiseNumbers, start and end.
void linspace(const KernelCall& call) {
  const auto& numbers = call.attributes<PointwiseNumbers>();
  SequenceParams p;
  kLinspaceTypes.visit(
      call, [&]<class T>() { p.set(numbers.a.to<T>(), numbers.b.to<T>()); });
  static constinit const Functions functions("Linspace");
  run(functions, call.tensor(0), p);
}

HOTARU_KERNEL(kCUDA, "arange", arange, check_types<kArangeTypes>);
HOTARU_KERNEL(kCUDA, "linspace", linspace, check_types<kLinspaceTypes>);

}  // namespace
}  // namespace hotaru::cuda
