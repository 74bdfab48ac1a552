// The formulas of common/reduce/formulas.h as reducers.
#pragma once

#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/cuda/device/reduce/reduce.h"

namespace hotaru::cuda {

/// A formula for elements T. 16-bit floats are floats once they are read.
template <template <class> class Formula, class T>
struct Reducer {
  using F = Formula<OpMath<T>>;
  using Acc = typename F::Acc;
  using Given = typename F::Out;
  /// Type that is stored.
  using Out = std::conditional_t<std::is_same_v<Given, OpMath<T>>, T, Given>;
  using Attributes = typename F::Attributes;
  static constexpr uint32_t kParts = 8;

  __device__ static Acc identity() { return F::kIdentity; }
  __device__ static Acc combine(Acc a, Acc b) { return F::combine(a, b); }
  using Part = Acc;
  __device__ static Part start() { return identity(); }
  __device__ static Acc total(const Part& part) { return part; }
  __device__ static Acc moved(const Acc& acc, int64_t) { return acc; }
  __device__ static void take(Acc& acc, OpMath<T> x, uint32_t) {
    acc = F::combine(acc, F::load(x));
  }
  /// Result of n elements.
  __device__ static OpMath<Out> result(Acc acc, double n, const Attributes& a) {
    return OpMath<Out>(F::finish(acc, n, a));
  }
  __device__ static void store(const ReduceParams& p, const int64_t (&at)[3],
                               Acc acc) {
    const auto& a = *reinterpret_cast<const Attributes*>(p.attributes);
    cuda::store<Out>(static_cast<char*>(p.out) + at[1],
                     result(acc, double(p.count), a));
  }
};

}  // namespace hotaru::cuda
