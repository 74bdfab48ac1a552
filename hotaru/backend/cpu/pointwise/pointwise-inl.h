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
// All formulas stand in lists, backend/common/pointwise/formulas.h.
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
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/common/pointwise/refusal.h"
#include "hotaru/backend/common/pointwise/vector_math.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

template <class F>
F make_formula(const KernelCall& call) {
  if constexpr (std::is_constructible_v<F, const PointwiseNumbers&>)
    return F(call.attributes<PointwiseNumbers>());
  else
    return F{};
}

template <class T>
HOTARU_INLINE T load(const char* p) {
  return *reinterpret_cast<const T*>(p);
}

/// True if a formula on floats has a quick form, see formulas/math.h.
template <class F>
inline constexpr bool kHasQuickForm = requires(F f) {
  f.quick(0.0f);
};
/// Tells whether it is to be taken, which numbers may decide.
template <class F>
bool takes_quick_form(const F& f) {
  if constexpr (requires { f.is_quick(); }) return f.is_quick();
  return true;
}

/// By the quick form, and those for which it does not hold by the whole one: a
/// result does not depend on its neighbours.
template <class F>
void quick_runs(float* out, const float* x, int64_t n, const F& f) {
  constexpr int64_t kRun = 512;
  for (int64_t from = 0; from < n; from += kRun) {
    const int64_t count = std::min(kRun, n - from);
    int32_t hold = 1;
    float results[kRun];  // not `out`, which may be x
    HOTARU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      hold &= int32_t(f.holds(x[from + i]));
      results[i] = f.quick(x[from + i]);
    }
    if (!hold) [[unlikely]]
      for (int64_t i = 0; i < count; ++i)
        if (!f.holds(x[from + i])) results[i] = f(x[from + i]);
    std::copy_n(results, count, out + from);
  }
}

/// True if a formula of two operands has a quick form, quick(x, y, out), which
/// says whether it holds for them.
template <class F, class R, class T>
inline constexpr bool kHasQuickPair = requires(T x, R r) {
  F::quick(x, x, r);
};

template <class F, class R, class T>
HWY_NOINLINE void whole_run(R* out, const T* x, const T* y, int64_t count,
                            const F& f) {
  for (int64_t i = 0; i < count; ++i) out[i] = R(f(x[i], y[i]));
}

/// quick_runs() of two operands.
template <class F, class R, class T>
void quick_runs(R* out, const T* x, const T* y, int64_t n, const F& f) {
  constexpr int64_t kRun = 512;
  // As wide as the elements, which vectors of them need no conversion for.
  using Flag = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  for (int64_t from = 0; from < n; from += kRun) {
    const int64_t count = std::min(kRun, n - from);
    Flag hold = 1;
    R results[kRun];  // not `out`, which may be x or y
    HOTARU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i)
      hold &= Flag(F::quick(x[from + i], y[from + i], results[i]));
    if (!hold) [[unlikely]]
      whole_run(results, x + from, y + from, count, f);
    std::copy_n(results, count, out + from);
  }
}

template <class From, class To>
void take(const char* x, int64_t stride, To* to, int64_t count) {
  if constexpr (kIsReduced<From>)
    if (stride == sizeof(From))
      return widen(reinterpret_cast<const From*>(x), to, count);
  for (int64_t i = 0; i < count; ++i)
    to[i] = To(*reinterpret_cast<const From*>(x + i * stride));
}

template <class From, class To>
void put(const From* x, char* to, int64_t stride, int64_t count) {
  if constexpr (kIsReduced<To>)
    if (stride == sizeof(To))
      return narrow(x, reinterpret_cast<To*>(to), count);
  for (int64_t i = 0; i < count; ++i)
    *reinterpret_cast<To*>(to + i * stride) = To(x[i]);
}

/// A loop over dense elements for operands of other strides, or of 16-bit
/// floats (T; M is float then): a run at a time, in memory of its own. One
/// function for all formulas. R: what the loop gives; Out: what is stored. Of
/// kNumber the last operand is one value of M.
template <class T, class M, class R, class Out, int kInputs,
          bool kNumber = false>
HWY_NOINLINE void by_runs(LoopNest::Inner loop, const void* context,
                          char* const* p, const int64_t* s, int64_t n) {
  constexpr int64_t kRun = 512;
  M in[kInputs][kRun];
  R results[kRun];
  char* q[kInputs + 1];
  int64_t step[kInputs + 1];
  for (int64_t from = 0; from < n; from += kRun) {
    const int64_t count = std::min(kRun, n - from);
    for (int k = 0; k < kInputs; ++k) {
      const char* x = p[k + 1] + from * s[k + 1];
      // The loop is for dense elements: one value becomes a run of it.
      if (kNumber && k + 1 == kInputs)
        std::fill_n(in[k], from == 0 ? count : 0, load<M>(p[k + 1]));
      else if (s[k + 1])
        take<T>(x, s[k + 1], in[k], count);
      else if (from == 0)
        std::fill_n(in[k], count, M(*reinterpret_cast<const T*>(x)));
      q[k + 1] = reinterpret_cast<char*>(in[k]);
      step[k + 1] = sizeof(M);
    }
    char* out = p[0] + from * s[0];
    const bool direct = std::is_same_v<R, Out> && s[0] == sizeof(Out);
    q[0] = direct ? out : reinterpret_cast<char*>(results);
    step[0] = sizeof(R);
    loop(context, q, step, count);
    if (!direct) put<R, Out>(results, out, s[0], count);
  }
}

/// A loop over 16-bit floats by that over floats.
template <class FloatLoop, class R, class Out, class T, int kInputs>
struct ReducedLoop {
  template <bool kNumber>
  static void run(const void* context, char* const* p, const int64_t* s,
                  int64_t n) {
    by_runs<T, float, R, Out, kInputs, kNumber>(&FloatLoop::run, context, p, s,
                                                n);
  }
  /// The last operand may be a float, see elementwise::Spec.
  static LoopNest::Inner of(const KernelCall& call) {
    if constexpr (kInputs > 1)
      if (call.tensor(kInputs).dtype() == DType::kFloat32) return &run<true>;
    return &run<false>;
  }
};

/// Where memory is not the bottleneck only dense elements have a loop of their
/// own; all others come and go by runs.
enum class Loops { kAll, kDense };

template <class F, class R, class T, Loops loops>
struct UnaryLoop {
  static void run(const void* context, char* const* p, const int64_t* s,
                  int64_t n) {
    const F f = *static_cast<const F*>(context);
    if (s[0] == sizeof(R) && s[1] == sizeof(T)) {
      auto* out = reinterpret_cast<R*>(p[0]);
      const auto* x = reinterpret_cast<const T*>(p[1]);
      if constexpr (requires { f.run(out, x, n); }) return f.run(out, x, n);
      if constexpr (std::is_same_v<T, float> && kHasQuickForm<F>)
        if (takes_quick_form(f)) return quick_runs(out, x, n, f);
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(x[i]));
      return;
    }
    if constexpr (loops == Loops::kDense)
      return by_runs<T, T, R, R, 1>(&UnaryLoop::run, context, p, s, n);
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<R*>(p[0] + i * s[0]) = R(f(load<T>(p[1] + i * s[1])));
  }
};

/// Comparisons of complex numbers are few and long: dense ones have a loop.
template <class R, class T>
inline constexpr bool kComparesComplex =
    kIsComplex<T>&& std::is_same_v<R, bool>;

template <class F, class R, class T, Loops loops>
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
      if constexpr (kHasQuickPair<F, R, T>) return quick_runs(out, x, y, n, f);
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(x[i], y[i]));
    } else if constexpr (loops == Loops::kDense || kHasQuickPair<F, R, T> ||
                         kComparesComplex<R, T>) {
      by_runs<T, T, R, R, 2>(&BinaryLoop::run, context, p, s, n);
    } else if (dense && s[1] == kItem && s[2] == 0) {
      const T b = *y;
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(x[i], b));
    } else if (dense && s[1] == 0 && s[2] == kItem) {
      const T a = *x;
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(a, y[i]));
    } else {
      for (int64_t i = 0; i < n; ++i)
        *reinterpret_cast<R*>(p[0] + i * s[0]) =
            R(f(load<T>(p[1] + i * s[1]), load<T>(p[2] + i * s[2])));
    }
  }
};

template <class F, class R, class T, Loops>
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
        const T c = *z;
        HOTARU_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) out[i] = R(f(x[i], y[i], c));
        return;
      }
      HOTARU_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = R(f(x[i], y[i], z[i]));
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
struct PointwiseTypes {
  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    const DType dtype = call.tensor(1).dtype();
    if (!visit_if_listed(Types{}, dtype, f)) [[unlikely]]
      refuse_pointwise(call.kernel().name(), dtype);
  }
};
template <class Types>
inline constexpr PointwiseTypes<Types> kPointwiseTypes;

/// The loop of a formula with kInputs operands of one dtype. The output has
/// the inputs' dtype, or bool or another type where the formula returns it.
template <template <class> class F, class Types, int kInputs, Loops loops>
std::optional<Elementwise> pointwise_loop(const KernelCall& call) {
  std::optional<Elementwise> out;
  kPointwiseTypes<Types>.visit(call, [&]<class T>() {
    using Formula = F<OpMath<T>>;
    const Formula f = make_formula<Formula>(call);
    using M = OpMath<T>;
    const auto make =
        [&]<class Result, template <class, class, class, Loops> class L>() {
          using R = std::conditional_t<std::is_same_v<Result, M>, T, Result>;
          if constexpr (kIsReduced<T>)
            out.emplace(ReducedLoop<L<Formula, Result, float, loops>, Result, R,
                                    T, kInputs>::of(call),
                        f);
          else
            out.emplace(&L<Formula, R, T, loops>::run, f);
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
template <template <class> class F, class Types, int kInputs,
          Loops loops = Loops::kAll>
void pointwise(const char* name) {
  // Processors without vectors, which are few, get the least code.
  constexpr Loops kLoops = HWY_TARGET == HWY_SCALAR ? Loops::kDense : loops;
  const ElementwiseRegistration<&pointwise_loop<F, Types, kInputs, kLoops>>
      registered(name, &check_types<kPointwiseTypes<Types>>);
}

/// For the lists of formulas.h: one kernel.
#undef HOTARU_REGISTER_POINTWISE
#define HOTARU_REGISTER_POINTWISE(name, F, Types, inputs) \
  pointwise<F, Types, inputs>(name);
#undef HOTARU_REGISTER_DENSE
#define HOTARU_REGISTER_DENSE(name, F, Types, inputs) \
  pointwise<F, Types, inputs, Loops::kDense>(name);

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
