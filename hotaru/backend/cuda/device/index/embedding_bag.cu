// Sums, means and maxima of bags of rows of a table. See
// params/index/embedding_bag.h for how they are launched.
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/index/embedding_bag.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

using Params = EmbeddingBagParams;

__device__ inline int64_t clamped(int64_t position, const Params& p) {
  return position < 0 ? 0 : position > p.positions ? p.positions : position;
}

/// One thread for each bag looks at its offset and the one behind it.
__device__ void check_offsets(const Params& p, uint32_t bag) {
  const int64_t here = p.offsets[bag];
  if (bag == 0 && here != 0) report_error(p.errors, Params::kFirst, here, 0);
  const bool last = bag + 1 == p.offset_count;
  const int64_t next = last ? p.positions : p.offsets[bag + 1];
  if (last ? here > next : bag + 2 == p.offset_count && next > p.positions)
    report_error(p.errors, Params::kLast, p.positions, last ? here : next);
  else if (here > next)
    report_error(p.errors, Params::kDecrease, bag + 1, next, here);
}

/// Rows of the bag that count, of this thread's column: f(position, row).
template <class F>
__device__ void for_rows(const Params& p, int64_t begin, int64_t end,
                         bool reports, const F& f) {
  for (int64_t at = begin; at < end; ++at) {
    const int64_t index = p.indices[at];
    if (uint64_t(index) >= uint64_t(p.rows)) {
      if (reports) report_error(p.errors, Params::kIndex, at, index);
    } else if (index != p.padding) {
      f(at, index);
    }
  }
}

template <class T>
__device__ void embedding_bag(const Params& p) {
  using M = OpMath<T>;
  const uint32_t element = blockIdx.x * kBlock + threadIdx.x;
  const uint32_t bag = p.columns.divide(element);
  const uint32_t column = element - bag * p.columns.divisor;
  if (bag >= p.bags) {
    // Without bags, all positions are behind the last one.
    if (p.bags == 0 && element == 0)
      for (int64_t at = 0; at < p.positions; ++at) p.bag_of[at] = 0;
    return;
  }
  if (column == 0) check_offsets(p, bag);
  const bool last = bag + 1 == p.bags;
  const int64_t begin = clamped(p.offsets[bag], p);
  const int64_t end =
      last && p.to_end ? p.positions : clamped(p.offsets[bag + 1], p);
  for (int64_t at = begin + column; at < end; at += p.columns.divisor)
    p.bag_of[at] = bag;
  if (last)
    for (int64_t at = end + column; at < p.positions; at += p.columns.divisor)
      p.bag_of[at] = p.bags;

  const auto* weight = static_cast<const Stored<T>*>(p.weight) + column;
  const auto* factors = static_cast<const Stored<T>*>(p.factors);
  const bool real = column < p.width;  // a row may have no elements
  int64_t counted = 0, winner = 0;
  M result = 0;
  if (p.mode == Params::kMax) {
    for_rows(p, begin, end, column == 0, [&](int64_t, int64_t row) {
      const M x = real ? load<T>(weight + row * p.width) : M(0);
      if (counted == 0 || x > result) {
        result = x;
        winner = row;
      }
      ++counted;
    });
  } else {
    for_rows(p, begin, end, column == 0, [&](int64_t at, int64_t row) {
      const M x = real ? load<T>(weight + row * p.width) : M(0);
      result += (factors ? load<T>(factors + at) : M(1)) * x;
      ++counted;
    });
    if (p.mode == Params::kMean && counted > 0) result = result / M(counted);
  }
  if (column == 0) p.counted[bag] = counted;
  if (!real) return;
  const int64_t to = int64_t(bag) * p.width + column;
  store<T>(static_cast<Stored<T>*>(p.out) + to, result);
  if (p.mode == Params::kMax) p.winners[to] = winner;
}

}  // namespace

#define HOTARU_EMBEDDING_BAG(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(EmbeddingBag_##suffix, EmbeddingBagParams, \
                     embedding_bag<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_EMBEDDING_BAG, )

}  // namespace hotaru::cuda
