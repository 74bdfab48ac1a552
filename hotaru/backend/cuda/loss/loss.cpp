// Launching losses; see params/loss.h.
#include "hotaru/backend/common/loss/loss.h"

#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/loss.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kNllTypes{2, "nll_loss_out_frame"};
constexpr KernelTypes<FloatingTypes> kNllGradTypes{
    0, "nll_loss_backward_out_frame"};
constexpr KernelTypes<FloatingTypes> kIntervalTypes{1, "binary_cross_entropy"};

const void* address_of(const Tensor& t) {
  return t.defined() && t.numel() > 0 ? device_address(t) : nullptr;
}

[[noreturn]] void raise_target(const FailureText&, int64_t,
                               const int64_t* numbers) {
  fail<IndexError>("Target ", numbers[0], " is out of bounds.");
}

constinit const Functions nll_each("NllEach"), nll_sum("NllSum"),
    nll_sum_second("NllSum", "_2"), nll_grad("NllGrad"),
    unit_interval("UnitInterval");

NllParams params_of(const KernelCall& call, const Tensor& target,
                    const Tensor& weight) {
  const auto& a = call.attributes<NllAttributes>();
  const int64_t targets = a.n * a.space;
  HOTARU_CHECK(targets < kMostElements && a.classes < kMostElements,
               "nll_loss of 2^31 targets and more is not implemented for CUDA "
               "yet");
  NllParams p;
  p.target = address_of(target);
  p.weight = address_of(weight);
  p.targets = uint32_t(targets);
  p.space = Divider(uint32_t(std::max<int64_t>(a.space, 1)));
  p.class_count = uint32_t(a.classes);
  p.classes = Divider(uint32_t(std::max<int64_t>(a.classes, 1)));
  p.ignore_index = a.ignore_index;
  p.reduction = int32_t(a.reduction);
  p.bytes = target.dtype() == DType::kUInt8;
  p.errors = watch_errors(call, {&raise_target});
  return p;
}

void nll_loss(const KernelCall& call) {
  check_types<kNllTypes>(call);
  const Tensor& x = call.tensor(2);
  NllParams p = params_of(call, call.tensor(3), call.tensor(4));
  p.out = p.targets > 0 || p.reduction != 0 ? device_address(call.tensor(0))
                                            : nullptr;
  p.total = device_address(call.tensor(1));
  p.x = address_of(x);
  if (p.reduction == 0)
    return launch(nll_each.of(x.dtype()),
                  {blocks_for(std::max<int64_t>(p.targets, 1), kBlock)}, kBlock,
                  p);
  const unsigned blocks = nll_blocks(p);
  const Workspace partial{size_t(blocks) * 2 * sizeof(double)};
  p.partial = static_cast<double*>(partial.data());
  launch(nll_sum.of(x.dtype()), {blocks}, kBlock, p);
  if (blocks > 1) launch(nll_sum_second.of(x.dtype()), {1}, kBlock, p);
}

void nll_loss_grad(const KernelCall& call) {
  check_types<kNllGradTypes>(call);
  const Tensor& gx = call.tensor(0);
  if (gx.numel() == 0) return;
  HOTARU_CHECK(gx.numel() < kMostElements,
               "nll_loss of 2^31 elements and more is not implemented for CUDA "
               "yet");
  NllParams p = params_of(call, call.tensor(2), call.tensor(3));
  p.out = device_address(gx);
  p.grad = device_address(call.tensor(1));
  p.total = device_address(call.tensor(4));
  p.numel = uint32_t(gx.numel());
  launch(nll_grad.of(gx.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

[[noreturn]] void raise_interval(const FailureText&, int64_t operand,
                                 const int64_t*) {
  fail("all elements of ", operand == 1 ? "input" : "target",
       " should be between 0 and 1");
}

/// Input first: of what is wrong with both, it is what is told.
void check_unit_interval(const KernelCall& call) {
  check_types<kIntervalTypes>(call);
  for (const size_t operand : {1, 2}) {
    const Tensor& x = call.tensor(operand);
    if (x.numel() == 0) continue;
    HOTARU_CHECK(x.numel() < kMostElements,
                 "binary_cross_entropy of 2^31 elements and more is not "
                 "implemented for CUDA yet");
    UnitIntervalParams p;
    p.x = device_address(x);
    p.numel = uint32_t(x.numel());
    p.code = int64_t(operand);
    p.errors = watch_errors(call, {&raise_interval});
    launch(unit_interval.of(x.dtype()), {blocks_for(p.numel, kBlock)}, kBlock,
           p);
  }
}

HOTARU_KERNEL(kCUDA, "nll_loss", nll_loss);
HOTARU_KERNEL(kCUDA, "nll_loss_grad", nll_loss_grad);
HOTARU_KERNEL(kCUDA, "binary_cross_entropy_check", check_unit_interval);

}  // namespace
}  // namespace hotaru::cuda
