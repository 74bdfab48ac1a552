// Elementwise kernels from formulas, compiled once per instruction set. A
// formula is a functor over one element; the loops below are written so that
// the compiler vectorises it for the target that includes this file:
//
//   template <class T> struct Add {            // T: type of the arithmetic
//     T alpha;
//     explicit Add(const PointwiseNumbers& n) : alpha(n.a.to<T>()) {}
//     HOTARU_INLINE T operator()(T x, T y) const { return x + alpha * y; }
//   };
//   pointwise<Add, NumberTypes, 2>("add");     // registers the kernel
//
// Formulas without numbers need no constructor.

// Guarded by Highway's toggle, as it is included once for each target.
#if defined(HOTARU_POINTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_POINTWISE_INL_H_
#undef HOTARU_POINTWISE_INL_H_
#else
#define HOTARU_POINTWISE_INL_H_
#endif

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise.h"
#include "hotaru/backend/common/vector_math.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

template <class F>
F make_formula(const KernelCall& call) {
  if constexpr (std::is_constructible_v<F, const PointwiseNumbers&>)
    return F(call.attributes<PointwiseNumbers>());
  else
    return F{};
}

/// x as the type the formula computes in.
template <class T>
HOTARU_INLINE OpMath<T> load(const char* p) {
  return static_cast<OpMath<T>>(*reinterpret_cast<const T*>(p));
}

/// A formula with a quick form, see formulas/math.h.
template <class F, class T>
concept HasQuickForm = std::is_same_v < OpMath<T>,
float > &&requires(T x) {
  F::quick(float(x));
};

/// Runs of so many elements, all by the quick form or all by the whole one.
template <class F, class R, class T>
void quick_runs(R* out, const T* x, int64_t n, const F& f) {
  constexpr int64_t kRun = 256;
  for (int64_t from = 0; from < n; from += kRun) {
    const int64_t count = std::min(kRun, n - from);
    int32_t hold = 1;
    R results[kRun];  // not `out`, which may be x
    HOTARU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(x[from + i]);
      hold &= int32_t(F::holds(value));
      results[i] = R(F::quick(value));
    }
    if (!hold) [[unlikely]]
      for (int64_t i = 0; i < count; ++i)
        results[i] = R(f(static_cast<float>(x[from + i])));
    std::copy_n(results, count, out + from);
  }
}

template <class F, class R, class T>
struct UnaryLoop {
  static void run(const void* context, char* const* p, const int64_t* s,
                  int64_t n) {
    const F f = *static_cast<const F*>(context);
    if (s[0] == sizeof(R) && s[1] == sizeof(T)) {
      auto* out = reinterpret_cast<R*>(p[0]);
      const auto* x = reinterpret_cast<const T*>(p[1]);
      if constexpr (HasQuickForm<F, T>) return quick_runs(out, x, n, f);
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(OpMath<T>(x[i])));
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<R*>(p[0] + i * s[0]) = R(f(load<T>(p[1] + i * s[1])));
  }
};

template <class F, class R, class T>
struct BinaryLoop {
  static void run(const void* context, char* const* p, const int64_t* s,
                  int64_t n) {
    const F f = *static_cast<const F*>(context);
    auto* out = reinterpret_cast<R*>(p[0]);
    const auto* x = reinterpret_cast<const T*>(p[1]);
    const auto* y = reinterpret_cast<const T*>(p[2]);
    constexpr int64_t kItem = sizeof(T);
    const bool dense = s[0] == sizeof(R);
    if (dense && s[1] == kItem && s[2] == kItem) {
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i)
        out[i] = R(f(OpMath<T>(x[i]), OpMath<T>(y[i])));
    } else if (dense && s[1] == kItem && s[2] == 0) {
      const auto b = OpMath<T>(*y);
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(OpMath<T>(x[i]), b));
    } else if (dense && s[1] == 0 && s[2] == kItem) {
      const auto a = OpMath<T>(*x);
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(a, OpMath<T>(y[i])));
    } else {
      for (int64_t i = 0; i < n; ++i)
        *reinterpret_cast<R*>(p[0] + i * s[0]) =
            R(f(load<T>(p[1] + i * s[1]), load<T>(p[2] + i * s[2])));
    }
  }
};

template <class F, class R, class T>
struct TernaryLoop {
  static void run(const void* context, char* const* p, const int64_t* s,
                  int64_t n) {
    const F f = *static_cast<const F*>(context);
    constexpr int64_t kItem = sizeof(T);
    if (s[0] == kItem && s[1] == kItem && s[2] == kItem &&
        (s[3] == kItem || s[3] == 0)) {
      auto* out = reinterpret_cast<R*>(p[0]);
      const auto* x = reinterpret_cast<const T*>(p[1]);
      const auto* y = reinterpret_cast<const T*>(p[2]);
      const auto* z = reinterpret_cast<const T*>(p[3]);
      if (s[3] == 0) {
        const auto c = OpMath<T>(*z);
        HOTARU_INDEPENDENT
        for (int64_t i = 0; i < n; ++i)
          out[i] = R(f(OpMath<T>(x[i]), OpMath<T>(y[i]), c));
        return;
      }
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i)
        out[i] = R(f(OpMath<T>(x[i]), OpMath<T>(y[i]), OpMath<T>(z[i])));
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<R*>(p[0] + i * s[0]) =
          R(f(load<T>(p[1] + i * s[1]), load<T>(p[2] + i * s[2]),
              load<T>(p[3] + i * s[3])));
  }
};

/// The first input's dtype decides.
template <class Types>
inline constexpr KernelTypes<Types> kPointwiseTypes{1};

/// The loop of a formula with kInputs operands of one dtype. The output has
/// the inputs' dtype, or bool or another type where the formula returns it.
template <template <class> class F, class Types, int kInputs>
std::optional<Elementwise> pointwise_loop(const KernelCall& call) {
  std::optional<Elementwise> out;
  kPointwiseTypes<Types>.visit(call, [&]<class T>() {
    using Formula = F<OpMath<T>>;
    const Formula f = make_formula<Formula>(call);
    using M = OpMath<T>;
    const auto make =
        [&]<class Result, template <class, class, class> class L>() {
          using R = std::conditional_t<std::is_same_v<Result, M>, T, Result>;
          out.emplace(&L<Formula, R, T>::run, f);
        };
    if constexpr (kInputs == 1)
      make.template operator()<decltype(f(M{})), UnaryLoop>();
    else if constexpr (kInputs == 2)
      make.template operator()<decltype(f(M{}, M{})), BinaryLoop>();
    else
      make.template operator()<decltype(f(M{}, M{}, M{})), TernaryLoop>();
  });
  return out;
}

/// Registers it as the CPU's kernel of that name.
template <template <class> class F, class Types, int kInputs>
void pointwise(const char* name) {
  const ElementwiseRegistration<&pointwise_loop<F, Types, kInputs>> registered(
      name, &check_types<kPointwiseTypes<Types>>);
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
