// Writing at targets in the order of positions: they are sorted by their
// targets, and each run of equal ones is one thread's. See
// params/index/ordered.h for how they are launched.
#include "hotaru/backend/cuda/device/combine.h"
#include "hotaru/backend/cuda/device/index/indexed.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/index/ordered.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

__device__ void index_targets(const TargetsParams& p) {
  for_places(p.indexed, [&](uint32_t position, int64_t, int64_t whole) {
    p.targets[position] = whole < 0 ? kNoTarget : whole;
  });
}

__device__ void strided_targets(const TargetsParams& p) {
  for_elements<kStridedEach>(
      p.indexed.at, blockIdx.x * kStridedItems + threadIdx.x, p.indexed.numel,
      [&](uint32_t position, const int64_t* at) {
        p.targets[position] = at[1];
      });
}

/// An entry and a column.
struct Place {
  const OrderedParams& p;
  uint32_t entry;
  uint64_t key = 0;
  char* to = nullptr;
  const char* part = nullptr;
  /// Set if there is something to do.
  bool real;

  __device__ explicit Place(const OrderedParams& p) : p(p) {
    const uint32_t number = blockIdx.x * kBlock + threadIdx.x;
    entry = p.columns.divide(number);
    real = entry < p.entries;
    if (!real) return;
    key = p.sorted[entry].key;
    const int64_t target = target_of(key);
    real = target != kNoTarget;
    uint32_t column[1] = {number - entry * p.columns.divisor};
    int64_t at[1][2];
    p.beside.find(column, at);
    part = static_cast<const char*>(p.part) + at[0][0];
    to = static_cast<char*>(p.whole) + at[0][1] + target;
  }
  /// True if another entry has the same target.
  __device__ bool joins(uint32_t other) const {
    return other < p.entries && p.sorted[other].key == key;
  }
  __device__ bool is_first() const { return entry == 0 || !joins(entry - 1); }
  /// Address of what an entry brings.
  __device__ const char* source(uint32_t of) const {
    uint32_t position[1] = {p.sorted[of].position};
    int64_t at[1][3];
    p.positions.find(position, at);
    return part + at[0][0];
  }
};

template <class Word>
__device__ void assign(const OrderedParams& p) {
  const Place place(p);
  if (!place.real || place.joins(place.entry + 1)) return;
  *reinterpret_cast<Word*>(place.to) =
      *reinterpret_cast<const Word*>(place.source(place.entry));
}

/// Elements of a run that are under way at once.
constexpr uint32_t kAhead = 4;

/// Sums and products of 16-bit numbers are made in floats and rounded once, as
/// on the CPU.
template <class T, class Operation>
__device__ void combine(const OrderedParams& p) {
  const Place place(p);
  if (!place.real || !place.is_first()) return;
  OpMath<T> now = load<T>(place.to);
  uint32_t next = place.entry;
  uint32_t n = kAhead;
  HOTARU_NO_UNROLL
  while (n == kAhead) {
    for (n = 0; n < kAhead && place.joins(next + n);) ++n;
    OpMath<T> x[kAhead];
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kAhead; ++i)
      if (i < n) x[i] = load<T>(place.source(next + i));
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kAhead; ++i)
      if (i < n) now = Operation::template of<T>(now, x[i]);
    next += n;
  }
  store<T>(place.to, now);
}

}  // namespace

HOTARU_CUDA_KERNEL(IndexTargets, TargetsParams, index_targets)
HOTARU_CUDA_KERNEL(StridedTargets, TargetsParams, strided_targets)

#define HOTARU_ORDERED_WORDS(size, Word) \
  HOTARU_CUDA_KERNEL(OrderedAssign_##size, OrderedParams, assign<Word>)
HOTARU_ORDERED_WORDS(1, uint8_t)
HOTARU_ORDERED_WORDS(2, uint16_t)
HOTARU_ORDERED_WORDS(4, uint32_t)
HOTARU_ORDERED_WORDS(8, uint64_t)
HOTARU_ORDERED_WORDS(16, Word16)

#define HOTARU_ORDERED_NUMBERS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(OrderedAdd_##suffix, OrderedParams, combine<T, Plus>) \
  HOTARU_CUDA_KERNEL(OrderedMultiply_##suffix, OrderedParams, combine<T, Times>)
HOTARU_DEVICE_TYPES_FloatingAndComplexTypes(HOTARU_ORDERED_NUMBERS, )

#define HOTARU_ORDERED_EXTREMES(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(OrderedMax_##suffix, OrderedParams, combine<T, Larger>) \
  HOTARU_CUDA_KERNEL(OrderedMin_##suffix, OrderedParams, combine<T, Smaller>)
    HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_ORDERED_EXTREMES, )

}  // namespace hotaru::cuda
