// Largest and smallest elements with their positions: max_dim, min_dim, argmax
// and argmin. See params/reduce.h for how they are launched.
#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/cuda/device/reduce/reduce.h"

namespace hotaru::cuda {
namespace {

/// The first of the best elements, or the first NaN.
template <class T, bool kLargest>
struct At {
  using M = OpMath<T>;
  template <class Position>
  struct Found {
    M value;
    Position position;  // kNowhere: nothing yet
  };
  static constexpr auto kNowhere = ~0u;
  /// A launch counts in 32 bits.
  using Part = Found<uint32_t>;
  using Acc = Found<int64_t>;
  static constexpr uint32_t kParts = 1;

  __device__ static Acc identity() { return {M{}, kNowhere}; }
  template <class F>
  __device__ static F combine(const F& a, const F& b) {
    if (b.position == kNowhere) return a;
    if (a.position == kNowhere) return b;
    const bool a_nan = formulas::not_a_number(a.value);
    const bool b_nan = formulas::not_a_number(b.value);
    if (a_nan != b_nan) return a_nan ? a : b;
    const bool equal = a_nan || a.value == b.value;
    const bool first = equal ? a.position < b.position
                             : formulas::better<kLargest>(a.value, b.value);
    return first ? a : b;
  }
  __device__ static Part start() { return {M{}, kNowhere}; }
  __device__ static Acc total(const Part& part) {
    return {part.value, part.position};
  }
  __device__ static void take(Part& part, M x, uint32_t position) {
    part = combine(part, Part{x, position});
  }
  __device__ static Acc moved(const Acc& acc, int64_t by) {
    return {acc.value,
            acc.position == kNowhere ? acc.position : acc.position + by};
  }
  __device__ static void store(const ReduceParams& p, const int64_t (&at)[3],
                               const Acc& acc) {
    if (p.out) cuda::store<T>(static_cast<char*>(p.out) + at[1], acc.value);
    if (p.second)
      cuda::store<int64_t>(static_cast<char*>(p.second) + at[2], acc.position);
  }
};

}  // namespace

#define HOTARU_POSITIONS(unused, T, suffix) \
  HOTARU_REDUCTION(LargestAt_##suffix, T, At<T, true>) \
  HOTARU_REDUCTION(SmallestAt_##suffix, T, At<T, false>)
HOTARU_DEVICE_TYPES_RealAndBoolTypes(HOTARU_POSITIONS, )

}  // namespace hotaru::cuda
