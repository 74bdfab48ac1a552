// Every reduction and scan as a formula, apart from how a device walks through
// the elements; the lists at the end name their kernels.
//
// A reduction R<T> of elements of type T says
//   using Acc = ...;                        what it accumulates in
//   static constexpr Acc kIdentity;
//   static Acc load(T x);                   an element's contribution
//   static Acc combine(Acc a, Acc b);       associative
//   using Attributes = ...;                 of its kernel
//   static bool serves(const Attributes&);  whether this is the one asked for
//   using Out = ...;                        the result's type
//   static constexpr bool kZeroOrNot;       said where nothing else is asked
//   static Out finish(Acc, double n, const Attributes&);   n: elements of each
// and a scan S<T> says
//   using Acc = ...;
//   static constexpr Acc kFirst;
//   static Acc step(Acc sum, Acc x);
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "hotaru/backend/common/both.h"
#include "hotaru/backend/common/complex_math.h"
#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/core/dtype.h"

namespace hotaru::formulas {

struct NoAttributes {};

template <class T>
struct RealOf {
  using type = OpMath<T>;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};

/// Accumulator of sums and products of T: integers wrap around in 64 bits.
template <class T>
struct Accumulator {
  using type = uint64_t;
};
template <class T>
requires(kIsFloating<T> || kIsComplex<T>) struct Accumulator<T> {
  using type = OpMath<T>;
};

template <class T>
HOTARU_BOTH bool not_a_number(T x) {
  return x != x;
}

template <class T>
struct Sum {
  using Acc = typename Accumulator<T>::type;
  using Attributes = SumAttributes;
  using Out = std::conditional_t<kIsIntegral<T>, int64_t, T>;
  static constexpr Acc kIdentity{};
  HOTARU_BOTH static Acc load(T x) { return Acc(x); }
  HOTARU_BOTH static Acc combine(Acc a, Acc b) { return a + b; }
  static bool serves(const Attributes& a) { return !a.skip_nan; }
  HOTARU_BOTH static Acc finish(Acc sum, double n, const Attributes& a) {
    if constexpr (kIsComplex<Acc>)
      return a.mean ? sum / typename Acc::value_type(n) : sum;
    else
      return a.mean ? Acc(sum / Acc(n)) : sum;
  }
};

template <class T>
struct NanSum : Sum<T> {
  using typename Sum<T>::Acc;
  HOTARU_BOTH static Acc load(T x) {
    const Acc v(x);
    return v == v ? v : Acc(0);
  }
  static bool serves(const SumAttributes& a) { return a.skip_nan; }
};

/// Results of these have their formula's type and need no attributes.
struct Plain {
  using Attributes = NoAttributes;
  static bool serves(const Attributes&) { return true; }
  template <class Acc>
  HOTARU_BOTH static Acc finish(Acc acc, double, const Attributes&) {
    return acc;
  }
};

template <class T>
struct Product : Plain {
  using Acc = typename Accumulator<T>::type;
  using Out = std::conditional_t<kIsIntegral<T>, int64_t, T>;
  static constexpr Acc kIdentity = Acc(1);
  HOTARU_BOTH static Acc load(T x) { return Acc(x); }
  HOTARU_BOTH static Acc combine(Acc a, Acc b) { return a * b; }
};

template <class T>
struct CountNonzero : Plain {
  using Acc = int64_t;
  using Out = int64_t;
  static constexpr bool kZeroOrNot = true;
  static constexpr Acc kIdentity = 0;
  HOTARU_BOTH static Acc load(T x) { return x != T(0); }
  HOTARU_BOTH static Acc combine(Acc a, Acc b) { return a + b; }
};

/// The result is bool, or uint8 for uint8.
template <class T>
struct Any : Plain {
  using Acc = bool;
  using Out = uint8_t;
  static constexpr bool kZeroOrNot = true;
  static constexpr Acc kIdentity = false;
  HOTARU_BOTH static Acc load(T x) { return x != T(0); }
  HOTARU_BOTH static Acc combine(Acc a, Acc b) { return a | b; }
};

template <class T>
struct All : Any<T> {
  static constexpr bool kIdentity = true;
  HOTARU_BOTH static bool combine(bool a, bool b) { return a & b; }
};

template <bool kLargest, class T>
HOTARU_BOTH bool better(T a, T b) {
  return kLargest ? a > b : a < b;
}

/// The larger of all or the smaller; NaN if there is one.
template <class T, bool kLargest>
struct Extremum : Plain {
  using Acc = T;
  using Out = T;
  /// The value that loses against every other one.
  static constexpr T losing() {
    using Limits = std::numeric_limits<T>;
    if constexpr (kIsFloating<T>)
      return kLargest ? T(-float(Limits::infinity())) : Limits::infinity();
    else
      return kLargest ? Limits::lowest() : Limits::max();
  }
  static constexpr T kIdentity = losing();
  /// A bool counts as 0 or 1.
  HOTARU_BOTH static T load(T x) {
    if constexpr (kIsBool<T>)
      return T(bool(x));
    else
      return x;
  }
  HOTARU_BOTH static T combine(T a, T b) {
    return better<kLargest>(a, b) || not_a_number(a) ? a : b;
  }
};
template <class T>
struct Largest : Extremum<T, true> {};
template <class T>
struct Smallest : Extremum<T, false> {};

/// Magnitudes added up: a norm of order 1. Of the other orders kernels serve
/// 0, 2, infinity and -infinity.
template <class T>
struct SumAbs {
  using Acc = typename RealOf<T>::type;
  using Attributes = NormAttributes;
  using Out = std::conditional_t<kIsComplex<T>, Acc, T>;
  static constexpr Acc kIdentity = 0;
  HOTARU_BOTH static Acc load(T x) {
    if constexpr (kIsComplex<T>)
      return lib::abs(x);
    else
      return std::abs(Acc(x));
  }
  HOTARU_BOTH static Acc combine(Acc a, Acc b) { return a + b; }
  static bool serves(const Attributes& a) { return a.order == 1; }
  HOTARU_BOTH static Acc finish(Acc acc, double, const Attributes&) {
    return acc;
  }
};

template <class T>
struct SumSquares : SumAbs<T> {
  using typename SumAbs<T>::Acc;
  HOTARU_BOTH static Acc load(T x) {
    if constexpr (kIsComplex<T>) {
      const Acc square = x.real() * x.real() + x.imag() * x.imag();
      if (!not_a_number(square)) return square;
      // As of abs: infinite, whatever the other part is.
      constexpr Acc kInfinite = std::numeric_limits<Acc>::infinity();
      const Acc re = x.real() < 0 ? -x.real() : x.real();
      const Acc im = x.imag() < 0 ? -x.imag() : x.imag();
      return re == kInfinite || im == kInfinite ? kInfinite : square;
    } else {
      return Acc(x) * Acc(x);
    }
  }
  static bool serves(const NormAttributes& a) { return a.order == 2; }
  HOTARU_BOTH static Acc finish(Acc acc, double, const NormAttributes&) {
    return std::sqrt(acc);
  }
};

template <class T>
struct CountAbs : SumAbs<T> {
  HOTARU_BOTH static typename SumAbs<T>::Acc load(T x) {
    return x == T(0) ? 0 : 1;
  }
  static bool serves(const NormAttributes& a) { return a.order == 0; }
};

template <class T>
struct MaxAbs : SumAbs<T> {
  using typename SumAbs<T>::Acc;
  HOTARU_BOTH static Acc combine(Acc a, Acc b) {
    return a > b || not_a_number(a) ? a : b;
  }
  static bool serves(const NormAttributes& a) {
    return a.order > 0 && a.order != 1 && a.order != 2;
  }
};

template <class T>
struct MinAbs : SumAbs<T> {
  using typename SumAbs<T>::Acc;
  static constexpr Acc kIdentity = std::numeric_limits<Acc>::infinity();
  HOTARU_BOTH static Acc combine(Acc a, Acc b) {
    return a < b || not_a_number(a) ? a : b;
  }
  static bool serves(const NormAttributes& a) { return !(a.order >= 0); }
};

/// Type that scans of T are kept in: as in PyTorch one size above the elements.
template <class T>
struct Wide {
  using type = uint64_t;
};
template <class T>
requires kIsFloating<T>
struct Wide<T> {
  using type = std::conditional_t<kIsReduced<T>, float, double>;
};
template <class R>
struct Wide<std::complex<R>> {
  using type = std::complex<double>;
};

template <class T>
struct RunningSum {
  using Acc = typename Wide<T>::type;
  static constexpr Acc kFirst{0};
  HOTARU_BOTH static Acc step(Acc sum, Acc x) { return sum + x; }
};

template <class T>
struct RunningProduct {
  using Acc = typename Wide<T>::type;
  static constexpr Acc kFirst{1};
  HOTARU_BOTH static Acc step(Acc product, Acc x) { return product * x; }
};

/// log(e^a + e^x), from the larger of the two.
template <class T>
struct RunningLogSumExp {
  using Acc = typename Wide<T>::type;
  static constexpr Acc kFirst = -std::numeric_limits<Acc>::infinity();
  HOTARU_BOTH static Acc step(Acc a, Acc x) {
    const Acc low = std::min(a, x), high = std::max(a, x);
    if (std::isnan(a) || std::isnan(x)) return a + x;
    if (low == high && std::isinf(low)) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

}  // namespace hotaru::formulas

/// Reductions of the last operand to the first: kernel, its name in errors,
/// dtypes of the input, and the formulas of which the attributes choose one.
#define HOTARU_SUMS(X) \
  X("sum", "sum_cpu", AllTypes, Sum, NanSum) \
  X("prod", "prod_cpu", AllTypes, Product)
#define HOTARU_COUNTS_AND_EXTREMES(X) \
  X("count_nonzero", "count_nonzero", AllTypes, CountNonzero) \
  X("any", "any_all", AllTypes, Any) \
  X("all", "any_all", AllTypes, All) \
  X("amax", "max_values_cpu", RealAndBoolTypes, Largest) \
  X("amin", "min_values_cpu", RealAndBoolTypes, Smallest)
#define HOTARU_NORMS(X) \
  X("norm", "linalg_vector_norm_cpu", FloatingAndComplexTypes, SumSquares, \
    SumAbs, CountAbs, MaxAbs, MinAbs)
#define HOTARU_REDUCTIONS(X) \
  HOTARU_SUMS(X) HOTARU_COUNTS_AND_EXTREMES(X) HOTARU_NORMS(X)

/// Scans: kernel, its name in errors, dtypes, formula.
#define HOTARU_SCANS(X) \
  X("cumsum", "cumsum_out_cpu", AllTypes, RunningSum) \
  X("cumprod", "cumprod_out_cpu", AllTypes, RunningProduct) \
  X("logcumsumexp", "logcumsumexp_out_cpu", FloatingTypes, RunningLogSumExp)
