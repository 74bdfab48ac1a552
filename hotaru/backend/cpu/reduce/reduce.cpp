// Sums, products and truth over dimensions.
#include "hotaru/backend/common/reduce/reduce.h"

#include <cmath>

#include "hotaru/backend/cpu/reduce/reduce_loop.h"
#include "hotaru/backend/cpu/reduce/reduce_simd.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

/// What sums of T accumulate in: integers wrap around in 64 bits.
template <class T>
struct Accumulator {
  using type = uint64_t;
};
template <class T>
requires(kIsFloating<T> || kIsComplex<T>) struct Accumulator<T> {
  using type = OpMath<T>;
};
template <class T>
using AccOf = typename Accumulator<T>::type;

template <class T>
struct Sum {
  using Acc = AccOf<T>;
  static constexpr Acc kIdentity{};
  static Acc load(T x) { return Acc(x); }
  static Acc combine(Acc a, Acc b) { return a + b; }
  static Acc block(const T* x, int64_t n) requires std::is_floating_point_v<T> {
    return sum_block(x, n);
  }
  static Acc block(const T* x, int64_t n) requires kIsReduced<T> {
    alignas(64) float wide[reduce::kBlock];
    widen(x, wide, n);
    return sum_block(wide, n);
  }
  static void rows(Acc* acc, const T* x, int64_t count, int64_t stride,
                   int64_t width) requires std::is_floating_point_v<T> {
    add_rows(acc, x, count, stride, width);
  }
};

template <class T>
struct NanSum {
  using Acc = AccOf<T>;
  static constexpr Acc kIdentity{};
  static Acc load(T x) {
    const Acc v(x);
    return v == v ? v : Acc(0);
  }
  static Acc combine(Acc a, Acc b) { return a + b; }
};

template <class T>
struct Product {
  using Acc = AccOf<T>;
  static constexpr Acc kIdentity = Acc(1);
  static Acc load(T x) { return Acc(x); }
  static Acc combine(Acc a, Acc b) { return a * b; }
  static Acc block(const T* x, int64_t n) requires std::is_floating_point_v<T> {
    return product_block(x, n);
  }
};

template <class T>
struct CountNonzero {
  using Acc = int64_t;
  static constexpr Acc kIdentity = 0;
  static Acc load(T x) { return x != T(0); }
  static Acc combine(Acc a, Acc b) { return a + b; }
  /// Counts of so few fit a byte, of which vectors hold most.
  static Acc block(const T* x, int64_t n) requires(sizeof(T) == 1) {
    constexpr int64_t kFew = 240;
    Acc total = 0;
    for (int64_t from = 0; from < n; from += kFew) {
      const int64_t end = std::min(n, from + kFew);
      uint8_t few = 0;
      for (int64_t i = from; i < end; ++i) few += x[i] != T(0);
      total += few;
    }
    return total;
  }
};

template <class T>
struct Any {
  using Acc = bool;
  static constexpr Acc kIdentity = false;
  static Acc load(T x) { return x != T(0); }
  static Acc combine(Acc a, Acc b) { return a | b; }
};

template <class T>
struct All : Any<T> {
  static constexpr bool kIdentity = true;
  static bool combine(bool a, bool b) { return a & b; }
};

/// Runs R<T> for the input's dtype T. The result has the input's dtype, or is
/// int64 for integers.
template <template <class> class R, class Target, class Finish>
void accumulate(const KernelCall& call, Target& target, const char* name,
                const Finish& finish) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  visit_dtype(AllTypes{}, in.dtype(), name, [&]<class T>() {
    using Acc = AccOf<T>;
    if constexpr (kIsIntegral<T>) {
      if (out.dtype() == DType::kInt64)
        return reduce_into<R<T>, T, int64_t>(target, out, in,
                                             [](Acc a) { return int64_t(a); });
    }
    reduce_into<R<T>, T, T>(
        target, out, in, [finish](Acc a) { return static_cast<T>(finish(a)); });
  });
}

/// Target: the shape to run over, or the RowReduction to make.
template <class Target>
void sum(const KernelCall& call, Target& target) {
  const auto& attributes = call.attributes<SumAttributes>();
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const auto count =
      double(in.numel()) / double(std::max<int64_t>(1, out.numel()));
  const auto finish = [mean = attributes.mean, count]<class A>(A a) {
    if constexpr (kIsComplex<A>)
      return mean ? a / typename A::value_type(count) : a;
    else
      return mean ? A(a / A(count)) : a;
  };
  if (attributes.skip_nan)
    accumulate<NanSum>(call, target, "sum_cpu", finish);
  else
    accumulate<Sum>(call, target, "sum_cpu", finish);
}

template <class Target>
void prod(const KernelCall& call, Target& target) {
  accumulate<Product>(call, target, "prod_cpu", [](auto a) { return a; });
}

void count_nonzero(const KernelCall& call, const ReduceShape& shape) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  visit_dtype(AllTypes{}, in.dtype(), "count_nonzero", [&]<class T>() {
    reduce_into<CountNonzero<T>, T, int64_t>(shape, out, in,
                                             [](int64_t n) { return n; });
  });
}

/// The result is bool, or uint8 for uint8.
template <template <class> class R>
void truth(const KernelCall& call, const ReduceShape& shape) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  visit_dtype(AllTypes{}, in.dtype(), "any_all", [&]<class T>() {
    reduce_into<R<T>, T, uint8_t>(shape, out, in,
                                  [](bool a) { return uint8_t(a); });
  });
}

const ReduceRegistration<sum, sum> registered_sum("sum");
const ReduceRegistration<prod, prod> registered_prod("prod");
const ReduceRegistration<count_nonzero> registered_count_nonzero(
    "count_nonzero");
const ReduceRegistration<truth<Any>> registered_any("any");
const ReduceRegistration<truth<All>> registered_all("all");

}  // namespace
}  // namespace hotaru::cpu
