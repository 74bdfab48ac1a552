// Reductions from the formulas that the CPU has, too: HOTARU_REDUCTIONS, see
// common/reduce/formulas.h.
#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/cuda/device/reduce/reduce.h"

namespace hotaru::cuda {
namespace {

/// A formula for elements T. 16-bit floats are floats once they are read.
template <template <class> class Formula, class T>
struct Reducer {
  using F = Formula<OpMath<T>>;
  using Acc = typename F::Acc;
  using Given = typename F::Out;
  /// What is stored.
  using Out = std::conditional_t<std::is_same_v<Given, OpMath<T>>, T, Given>;
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
  __device__ static void store(const ReduceParams& p, const int64_t (&at)[3],
                               Acc acc) {
    using A = typename F::Attributes;
    const A& a = *reinterpret_cast<const A*>(p.attributes);
    cuda::store<Out>(static_cast<char*>(p.out) + at[1],
                     OpMath<Out>(F::finish(acc, double(p.count), a)));
  }
};

}  // namespace

// The list's entries have up to five formulas.
#define HOTARU_REDUCE(kernel, name, Types, ...) \
  HOTARU_REDUCE_1(Types, __VA_ARGS__)
#define HOTARU_REDUCE_1(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_2(Types, __VA_ARGS__))
#define HOTARU_REDUCE_2(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_3(Types, __VA_ARGS__))
#define HOTARU_REDUCE_3(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_4(Types, __VA_ARGS__))
#define HOTARU_REDUCE_4(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_5(Types, __VA_ARGS__))
#define HOTARU_REDUCE_5(Types, F) HOTARU_REDUCE_TYPES(Types, F)
#define HOTARU_REDUCE_TYPES(Types, F) \
  HOTARU_DEVICE_TYPES_##Types(HOTARU_REDUCE_OF, F)
#define HOTARU_REDUCE_OF(F, T, suffix) \
  HOTARU_REDUCTION(F##_##suffix, T, Reducer<formulas::F, T>)

HOTARU_REDUCTIONS(HOTARU_REDUCE)

}  // namespace hotaru::cuda
