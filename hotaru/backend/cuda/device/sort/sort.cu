// Sorting lines by merging: each entry finds its place in the merged run by a
// search in the other one. Selections are read off sorted lines. See
// params/sort/sort.h for how they are launched.
#include "hotaru/backend/cuda/device/sort/keys.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

__device__ inline bool comes_before(const SortEntry& a, const SortEntry& b) {
  return a.key < b.key || (a.key == b.key && a.position < b.position);
}

/// Where the entry at `at` of a line of n goes when its runs are merged by two.
__device__ inline uint32_t merged_place(const SortEntry* line, uint32_t n,
                                        uint32_t at, uint32_t width) {
  const uint32_t left = at & ~(2 * width - 1);
  const uint32_t middle = n - left < width ? n : left + width;
  const uint32_t right = n - middle < width ? n : middle + width;
  const bool mine_left = at < middle;
  const SortEntry entry = line[at];
  uint32_t low = mine_left ? middle : left, high = mine_left ? right : middle;
  const uint32_t begin = low;
  while (low < high) {
    const uint32_t half = low + (high - low) / 2;
    if (comes_before(line[half], entry))
      low = half + 1;
    else
      high = half;
  }
  return (mine_left ? at : at - (middle - left)) + (low - begin);
}

template <class T>
__device__ void sort_tiles(const SortParams& p) {
  __shared__ SortEntry tile[2][kSortTile];
  const uint32_t number = p.tiles.divide(blockIdx.x);
  const uint32_t first = (blockIdx.x - number * p.tiles.divisor) * kSortTile;
  const uint32_t rest = p.length - first;
  const uint32_t n = rest < kSortTile ? rest : kSortTile;
  const SortLine line(p, number);
  const uint64_t flip = p.descending ? ~uint64_t{0} : 0;
  for (uint32_t i = threadIdx.x; i < n; i += kBlock)
    tile[0][i] = {sort_key<T>(element<T>(p, line, first + i)) ^ flip,
                  first + i};
  __syncthreads();
  uint32_t now = 0;
  for (uint32_t width = 1; width < n; width *= 2, now ^= 1) {
    for (uint32_t i = threadIdx.x; i < n; i += kBlock)
      tile[now ^ 1][merged_place(tile[now], n, i, width)] = tile[now][i];
    __syncthreads();
  }
  SortEntry* to = p.to + int64_t(number) * p.length + first;
  for (uint32_t i = threadIdx.x; i < n; i += kBlock) to[i] = tile[now][i];
}

__device__ void sort_merge(const SortParams& p) {
  const uint64_t i = uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const uint64_t line = i / p.length;
  if (line >= p.lines) return;
  const auto at = uint32_t(i - line * p.length);
  const SortEntry* from = p.from + line * p.length;
  p.to[line * p.length + merged_place(from, p.length, at, p.width)] = from[at];
}

template <class T>
__device__ uint32_t median(const SortParams& p, const SortLine& line,
                           const SortEntry* sorted) {
  uint32_t numbers = 0, high = p.length;  // NaNs are the last
  while (numbers < high) {
    const uint32_t half = numbers + (high - numbers) / 2;
    if (is_number<T>(element<T>(p, line, sorted[half].position)))
      numbers = half + 1;
    else
      high = half;
  }
  if (numbers < p.length && (!p.skip_nan || numbers == 0)) return numbers;
  return (numbers - 1) / 2;
}

__device__ inline uint32_t mode(const SortParams& p, const SortEntry* sorted) {
  uint32_t best = 0, longest = 0, start = 0;
  HOTARU_NO_UNROLL
  for (uint32_t i = 0; i < p.length; ++i) {
    if (sorted[i].key != sorted[start].key) start = i;
    if (i - start + 1 > longest) {
      longest = i - start + 1;
      best = i;
    }
  }
  return best;
}

template <class T>
__device__ void sort_end(const SortParams& p) {
  const uint64_t i = uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const uint64_t number = i / p.count;
  if (number >= p.lines) return;
  const auto to = uint32_t(i - number * p.count);
  const SortLine line(p, uint32_t(number));
  const SortEntry* sorted = p.from + number * p.length;
  uint32_t at = p.first + to;
  if (p.pick == SortPick::kMedian) at = median<T>(p, line, sorted);
  if (p.pick == SortPick::kMode) at = mode(p, sorted);
  const uint32_t position = sorted[at].position;
  Stored<T> x = element<T>(p, line, position);
  if constexpr (kIsBool<T>) x = x != 0;
  *reinterpret_cast<Stored<T>*>(line.values + int64_t(to) * p.value_step) = x;
  *reinterpret_cast<int64_t*>(line.indices + int64_t(to) * p.index_step) =
      position;
}

/// Position before which the value may be inserted. NaN counts as larger than
/// every boundary.
template <class T>
__device__ void search_sorted(const SearchParams& p) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const int64_t start = i / p.per_row * p.length;
  const auto* row = static_cast<const Stored<T>*>(p.boundaries) + start;
  const OpMath<T> value = load<T>(static_cast<const Stored<T>*>(p.values) + i);
  int64_t low = 0, high = p.length;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const Stored<T> x = row[p.order ? p.order[start + middle] : middle];
    const OpMath<T> boundary = widen<T>(x);
    bool past = p.right ? !(boundary > value) : !(boundary >= value);
    past &= !(p.nan_last && !is_number<T>(x));
    if (past)
      low = middle + 1;
    else
      high = middle;
  }
  if (p.narrow)
    static_cast<int32_t*>(p.out)[i] = int32_t(low);
  else
    static_cast<int64_t*>(p.out)[i] = low;
}

}  // namespace

#define HOTARU_SORT(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(SortTiles_##suffix, SortParams, sort_tiles<T>) \
  HOTARU_CUDA_KERNEL(SortEnd_##suffix, SortParams, sort_end<T>)
HOTARU_DEVICE_TYPES_RealAndBoolTypes(HOTARU_SORT, )
    HOTARU_CUDA_KERNEL(SortMerge, SortParams, sort_merge)

#define HOTARU_SEARCH(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(SearchSorted_##suffix, SearchParams, search_sorted<T>)
        HOTARU_DEVICE_TYPES_RealTypes(HOTARU_SEARCH, )

}  // namespace hotaru::cuda
