// Sorting long lines by digits (radix sort, least significant digit first): a
// digit is counted by blocks, and then every entry knows its place: behind all
// of smaller digits, those of its digit in earlier blocks, in earlier tiles of
// its block, in earlier rows of its tile, and in earlier lanes of its row. So
// equal ones stay in their order. See params/sort/radix.h for how it is
// launched.
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/sort/keys.h"
#include "hotaru/backend/cuda/params/sort/radix.h"

namespace hotaru::cuda {
namespace {

constexpr uint32_t kWarps = kBlock / kWarp;
/// Entries of a warp in a tile, a row of lanes after another.
constexpr uint32_t kWarpEntries = kRadixTile / kWarps;

template <class T>
__device__ void radix_entries(const SortParams& p) {
  const uint64_t i = uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const uint64_t number = i / p.length;
  if (number >= p.lines) return;
  const auto at = uint32_t(i - number * p.length);
  const SortLine line(p, uint32_t(number));
  using Key = Unsigned<sizeof(T)>;
  const auto key = Key(sort_key<T>(element<T>(p, line, at)) ^
                       (p.descending ? ~uint64_t{0} : 0));
  if constexpr (sizeof(T) <= 4)
    reinterpret_cast<uint64_t*>(p.to)[i] = uint64_t{key} << 32 | at;
  else
    p.to[i] = {key, at};
}

__device__ inline uint32_t digit_of(uint64_t packed, uint32_t shift) {
  return uint32_t(packed >> (32 + shift)) & (kRadixDigits - 1);
}
__device__ inline uint32_t digit_of(const SortEntry& entry, uint32_t shift) {
  return uint32_t(entry.key >> shift) & (kRadixDigits - 1);
}

/// The part of a line that a block has.
struct Part {
  uint32_t line, block, begin, end;
  __device__ explicit Part(const RadixParams& p)
      : line(p.blocks.divide(blockIdx.x)),
        block(blockIdx.x - line * p.blocks.divisor),
        begin(block * p.chunk),
        end(p.length - begin < p.chunk ? p.length : begin + p.chunk) {}
};

template <class Entry>
__device__ void radix_count(const RadixParams& p) {
  __shared__ uint32_t counts[kRadixDigits];
  const Part part(p);
  counts[threadIdx.x] = 0;
  __syncthreads();
  const Entry* from =
      static_cast<const Entry*>(p.from) + uint64_t{part.line} * p.length;
  for (uint32_t i = part.begin + threadIdx.x; i < part.end; i += kBlock)
    atomicAdd(&counts[digit_of(from[i], p.shift)], 1u);
  __syncthreads();
  p.counts[(uint64_t{part.line} * kRadixDigits + threadIdx.x) *
               p.blocks.divisor +
           part.block] = counts[threadIdx.x];
}

struct Sum {
  __device__ static uint32_t identity() { return 0; }
  __device__ static uint32_t combine(uint32_t a, uint32_t b) { return a + b; }
};
/// The sum of x over the threads before, and over all.
__device__ inline uint32_t sum_before(uint32_t x, uint32_t& all) {
  __shared__ uint32_t memory[kWarps];
  uint32_t before;
  join_lanes<Sum>(x, threadIdx.x, kBlock, memory, before, all);
  return before;
}

__device__ void radix_scan(const RadixParams& p) {
  uint32_t* counts = p.counts + uint64_t{blockIdx.x} * p.blocks.divisor;
  uint32_t base = 0;
  HOTARU_NO_UNROLL
  for (uint32_t first = 0; first < p.blocks.divisor; first += kBlock) {
    const uint32_t i = first + threadIdx.x;
    const bool inside = i < p.blocks.divisor;
    uint32_t all;
    const uint32_t before = sum_before(inside ? counts[i] : 0, all);
    if (inside) counts[i] = base + before;
    base += all;
  }
  if (threadIdx.x == 0) p.totals[blockIdx.x] = base;
}

/// The lanes with the same digit; none for a lane without an entry.
__device__ inline uint32_t lanes_like(uint32_t digit, bool inside) {
  uint32_t alike = __ballot_sync(kAllLanes, inside);
  HOTARU_UNROLL
  for (uint32_t bit = 0; bit < kRadixBits; ++bit) {
    const bool mine = digit >> bit & 1;
    const uint32_t votes = __ballot_sync(kAllLanes, mine);
    alike &= mine ? votes : ~votes;
  }
  return inside ? alike : 0;
}

__device__ inline void put_entry(uint64_t packed, uint64_t* to) {
  *to = packed;
}
__device__ inline void put_entry(const SortEntry& entry, SortEntry* to) {
  *to = entry;
}
__device__ inline void put_entry(uint64_t packed, SortEntry* to) {
  *to = {packed >> 32, uint32_t(packed)};
}

template <class Entry, class Placed>
__device__ void radix_scatter(const RadixParams& p) {
  // Place of each digit: where the next entry of the block goes; and of each
  // warp.
  __shared__ uint32_t places[kRadixDigits], mine[kWarps][kRadixDigits];
  const Part part(p);
  const uint64_t first_digit = uint64_t{part.line} * kRadixDigits;
  uint32_t all;
  const uint32_t smaller = sum_before(p.totals[first_digit + threadIdx.x], all);
  places[threadIdx.x] =
      smaller +
      p.counts[(first_digit + threadIdx.x) * p.blocks.divisor + part.block];
  const Entry* from =
      static_cast<const Entry*>(p.from) + uint64_t{part.line} * p.length;
  Placed* to = static_cast<Placed*>(p.to) + uint64_t{part.line} * p.length;
  const uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  HOTARU_NO_UNROLL
  for (uint32_t tile = part.begin; tile < part.end; tile += kRadixTile) {
    HOTARU_UNROLL
    for (uint32_t w = 0; w < kWarps; ++w) mine[w][threadIdx.x] = 0;
    __syncthreads();
    Entry entries[kRadixEach];
    uint32_t digits[kRadixEach], ranks[kRadixEach];
    HOTARU_UNROLL
    for (uint32_t row = 0; row < kRadixEach; ++row) {
      const uint32_t i = tile + warp * kWarpEntries + row * kWarp + lane;
      const bool inside = i < part.end;
      entries[row] = from[inside ? i : part.begin];
      digits[row] = digit_of(entries[row], p.shift);
      const uint32_t alike = lanes_like(digits[row], inside);
      const uint32_t before = bits_set(alike & ((1u << lane) - 1));
      ranks[row] = inside ? mine[warp][digits[row]] + before : ~0u;
      __syncwarp();
      // The last of them counts for all.
      if (inside && (alike >> lane) == 1) mine[warp][digits[row]] += before + 1;
      __syncwarp();
    }
    __syncthreads();
    uint32_t place = places[threadIdx.x];
    HOTARU_UNROLL
    for (uint32_t w = 0; w < kWarps; ++w) {
      const uint32_t count = mine[w][threadIdx.x];
      mine[w][threadIdx.x] = place;
      place += count;
    }
    places[threadIdx.x] = place;
    __syncthreads();
    HOTARU_UNROLL
    for (uint32_t row = 0; row < kRadixEach; ++row)
      if (ranks[row] != ~0u)
        put_entry(entries[row], to + mine[warp][digits[row]] + ranks[row]);
    __syncthreads();
  }
}

}  // namespace

#define HOTARU_RADIX(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(RadixEntries_##suffix, SortParams, radix_entries<T>)
HOTARU_DEVICE_TYPES_RealAndBoolTypes(HOTARU_RADIX, ) HOTARU_CUDA_BLOCK_KERNEL(
    RadixCount_8, RadixParams, radix_count<uint64_t>)
    HOTARU_CUDA_BLOCK_KERNEL(RadixCount_16, RadixParams, radix_count<SortEntry>)
        HOTARU_CUDA_BLOCK_KERNEL(RadixScan, RadixParams, radix_scan)
            HOTARU_CUDA_BLOCK_KERNEL(RadixScatter_8, RadixParams,
                                     radix_scatter<uint64_t, uint64_t>)
                HOTARU_CUDA_BLOCK_KERNEL(RadixScatter_16, RadixParams,
                                         radix_scatter<SortEntry, SortEntry>)
                    HOTARU_CUDA_BLOCK_KERNEL(RadixScatter_last, RadixParams,
                                             radix_scatter<uint64_t, SortEntry>)

}  // namespace hotaru::cuda
