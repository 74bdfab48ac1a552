#include "hotaru/backend/cpu/pointwise/quick_loops.h"

#include "hotaru/backend/common/pointwise/formulas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/quick_loops.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/fused_math-inl.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"
#include "hotaru/backend/cpu/pointwise/quotient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

/// The formulas with a quick form before them (see kHasQuickPair).
template <class T>
struct QuickDivTrunc : formulas::DivTrunc<T> {
  HOTARU_INLINE static bool quick(T x, T y,
                                  T& out) requires(formulas::kIsInteger<T>) {
    const auto q = quotient(x, y);
    out = as_integer<T>(std::trunc(q.value));
    return q.holds;
  }
};

template <class T>
struct QuickDivFloor : formulas::DivFloor<T> {
  HOTARU_INLINE static bool quick(T x, T y,
                                  T& out) requires(formulas::kIsInteger<T>) {
    const auto q = quotient(x, y);
    out = as_integer<T>(std::floor(q.value));
    return q.holds;
  }
  HOTARU_INLINE static bool quick(T x, T y, T& out) requires(kHasQuotient<T>) {
    const auto q = quotient(x, y);
    const bool below = formulas::is_on_other_side(q.rest, y);
    const T whole = q.whole - T(int(below));
    // The quotient has its own sign also where it is zero.
    out = whole == 0 ? std::copysign(T(0), q.value) : whole;
    return q.holds;
  }
};

template <class T>
struct QuickFmod : formulas::Fmod<T> {
  HOTARU_INLINE static bool quick(T x, T y,
                                  T& out) requires(formulas::kIsInteger<T>) {
    const auto q = quotient(x, y);
    out = as_integer<T>(q.x - std::trunc(q.value) * q.y);
    return q.holds;
  }
  HOTARU_INLINE static bool quick(T x, T y, T& out) requires(kHasQuotient<T>) {
    const auto q = quotient(x, y);
    out = q.rest;
    return q.holds;
  }
};

template <class T>
struct QuickRemainder : formulas::Remainder<T> {
  HOTARU_INLINE static bool quick(T x, T y,
                                  T& out) requires(formulas::kIsInteger<T>) {
    const auto q = quotient(x, y);
    out = as_integer<T>(q.x - std::floor(q.value) * q.y);
    return q.holds;
  }
  HOTARU_INLINE static bool quick(T x, T y, T& out) requires(kHasQuotient<T>) {
    const auto q = quotient(x, y);
    // Not by adding 0, which a negative zero would not survive.
    out = formulas::is_on_other_side(q.rest, y) ? q.rest + y : q.rest;
    return q.holds;
  }
};

template <template <class> class F, class Types, int kInputs,
          Loops loops = Loops::kDense>
std::optional<Elementwise> if_listed(const KernelCall& call) {
  std::optional<Elementwise> out;
  if (visit_if_listed(Types{}, call.tensor(1).dtype(), []<class>() {}))
    out = pointwise_loop<F, Types, kInputs, loops>(call);
  return out;
}

#if HWY_NATIVE_FMA
using fused::Log10;
using fused::Log2;
#else
using formulas::Log10;
using formulas::Log2;
#endif

std::optional<Elementwise> find_quick(Quick which, const KernelCall& call) {
  using Integers = TypeList<int32_t, int64_t>;
  using Narrow = TypeList<float, Half, BFloat16>;
  switch (which) {
    case Quick::kDivTrunc:
      return if_listed<QuickDivTrunc, QuickTypes, 2>(call);
    case Quick::kDivFloor:
      return if_listed<QuickDivFloor, QuickTypes, 2>(call);
    case Quick::kRemainder:
      return if_listed<QuickRemainder, QuickTypes, 2>(call);
    case Quick::kFmod:
      return if_listed<QuickFmod, QuickTypes, 2>(call);
    case Quick::kShiftLeft:
      return if_listed<formulas::ShiftLeft, Integers, 2, Loops::kAll>(call);
    case Quick::kShiftRight:
      return if_listed<formulas::ShiftRight, Integers, 2, Loops::kAll>(call);
    case Quick::kPow:
      return if_listed<formulas::Pow, Narrow, 2>(call);
    case Quick::kLog2:
      return if_listed<Log2, Narrow, 1>(call);
    case Quick::kLog10:
      return if_listed<Log10, Narrow, 1>(call);
    case Quick::kAngle:
      return if_listed<formulas::Angle, TypeList<float, std::complex<float>>,
                       1>(call);
    default:
      return {};
  }
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(find_quick);
std::optional<Elementwise> quick_loop(Quick which, const KernelCall& call) {
  return HWY_DYNAMIC_DISPATCH(find_quick)(which, call);
}
}  // namespace hotaru::cpu
#endif
