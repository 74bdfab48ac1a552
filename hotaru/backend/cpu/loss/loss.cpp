#include "hotaru/backend/common/loss/loss.h"

#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cpu {
namespace {

[[noreturn, gnu::cold]] void refuse_target(int64_t c) {
  fail<IndexError>("Target ", c, " is out of bounds.");
}

/// f(position in target, offset in x, class) for each target that counts.
template <class Class, class F>
void for_classes(const NllAttributes& a, const Class* target, const F& f) {
  const int64_t classes = a.classes, space = a.space, ignored = a.ignore_index;
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t s = 0; s < space; ++s) {
      const int64_t i = n * space + s;
      const auto c = int64_t(target[i]);
      if (c == ignored) continue;
      if (uint64_t(c) >= uint64_t(classes)) refuse_target(c);
      f(i, (n * classes + c) * space + s, c);
    }
}

template <class F>
void for_targets(const NllAttributes& a, const Tensor& target, const F& f) {
  if (target.dtype() == DType::kUInt8)
    for_classes(a, target.data<uint8_t>(), f);
  else
    for_classes(a, target.data<int64_t>(), f);
}

template <class T>
void forward(const KernelCall& call) {
  using A = OpMath<T>;
  const auto& a = call.attributes<NllAttributes>();
  const Tensor &loss = call.tensor(0), &total = call.tensor(1);
  const Tensor &target = call.tensor(3), &weights = call.tensor(4);
  const T* x = call.tensor(2).data<T>();
  const T* weight = weights.defined() ? weights.data<T>() : nullptr;
  T* out = loss.data<T>();
  const bool each = a.reduction == 0;
  if (each) std::fill_n(out, loss.numel(), T(0));
  double sum = 0, total_weight = 0;
  if (each || weight) {
    for_targets(a, target, [&](int64_t i, int64_t at, int64_t c) {
      const A w = weight ? A(weight[c]) : A(1);
      const A value = -w * A(x[at]);
      if (each) out[i] = T(value);
      sum += double(value);
      total_weight += double(w);
    });
  } else {
    int64_t counted = 0;
    for_targets(a, target, [&](int64_t, int64_t at, int64_t) {
      sum -= double(A(x[at]));
      ++counted;
    });
    total_weight = double(counted);
  }
  *total.data<T>() = T(A(each ? 0 : total_weight));
  // Without a target that counts, the mean is NaN.
  if (!each) *out = T(A(a.reduction == 1 ? sum / total_weight : sum));
}

template <class T>
void gradient(const KernelCall& call) {
  using A = OpMath<T>;
  const auto& a = call.attributes<NllAttributes>();
  const Tensor &gx = call.tensor(0), &g = call.tensor(1);
  const Tensor &target = call.tensor(2), &weights = call.tensor(3);
  const T* weight = weights.defined() ? weights.data<T>() : nullptr;
  T* out = gx.data<T>();
  std::fill_n(out, gx.numel(), T(0));
  const A scale = a.reduction == 1 ? A(1) / A(*call.tensor(4).data<T>()) : A(1);
  for_targets(a, target, [&](int64_t i, int64_t at, int64_t c) {
    const A grad = A(g.data<T>()[a.reduction == 0 ? i : 0]);
    out[at] = T(-grad * scale * (weight ? A(weight[c]) : A(1)));
  });
}

constexpr KernelTypes<FloatingTypes> kNllTypes{2, "nll_loss_out_frame"};
constexpr KernelTypes<FloatingTypes> kNllGradTypes{
    0, "nll_loss_backward_out_frame"};
constexpr KernelTypes<FloatingTypes> kIntervalTypes{1, "binary_cross_entropy"};

void nll_loss(const KernelCall& call) {
  kNllTypes.visit(call, [&]<class T>() { forward<T>(call); });
}
void nll_loss_grad(const KernelCall& call) {
  kNllGradTypes.visit(call, [&]<class T>() { gradient<T>(call); });
}

void check_unit_interval(const KernelCall& call) {
  kIntervalTypes.visit(call, [&]<class T>() {
    for (const size_t operand : {1, 2}) {
      const Tensor& x = call.tensor(operand);
      const T* p = x.data<T>();
      bool inside = true;
      for (int64_t i = 0; i < x.numel(); ++i)
        inside &= OpMath<T>(p[i]) >= 0 && OpMath<T>(p[i]) <= 1;
      HOTARU_CHECK(inside, "all elements of ",
                   operand == 1 ? "input" : "target",
                   " should be between 0 and 1");
    }
  });
}

HOTARU_KERNEL(kCPU, "binary_cross_entropy_check", check_unit_interval,
              check_types<kIntervalTypes>);
HOTARU_KERNEL(kCPU, "nll_loss", nll_loss, check_types<kNllTypes>);
HOTARU_KERNEL(kCPU, "nll_loss_grad", nll_loss_grad, check_types<kNllGradTypes>);

}  // namespace
}  // namespace hotaru::cpu
