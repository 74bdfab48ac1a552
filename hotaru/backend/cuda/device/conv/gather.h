// Operands of products that are gathered on the way to shared memory, and where
// the outputs go; see params/conv/gather.h.
#pragma once

#include "hotaru/backend/cuda/device/conv/places.h"
#include "hotaru/backend/cuda/device/matmul/finish.h"

namespace hotaru::cuda {

/// A thread's part of the tiles of one operand: of one product four elements, a
/// quarter of the tile's side apart.
template <class T, uint32_t kSide, class Others>
struct GatherCarrier {
  using A = OpMath<T>;
  static constexpr uint32_t kDepth = tile_depth(kSide);
  static constexpr uint32_t kApart = kSide / kMatmulLoads;
  static_assert(kApart == kBlock / kDepth);

  const Stored<T>* from;
  const GatheredOperand& by;
  Others others;
  Place next;  // of the product whose tile is fetched next
  Stored<T> held[kMatmulLoads];

  __device__ GatherCarrier(const GatherParams& p, const GatheredOperand& by,
                           const void* base, uint32_t batch, uint32_t first,
                           uint32_t begin)
      : from(static_cast<const Stored<T>*>(base)),
        by(by),
        others(p, batch, first + other()),
        next(by.products[begin + product()]) {}

  /// Place in the tile; cheaper to find again than to keep.
  __device__ uint32_t product() const {
    return by.along ? threadIdx.x % kDepth : threadIdx.x / kApart;
  }
  __device__ uint32_t other() const {
    return by.along ? threadIdx.x / kDepth : threadIdx.x % kApart;
  }

  /// Tiles come in their order; places know the end.
  __device__ void fetch(uint32_t tile, uint32_t) {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kMatmulLoads; ++j) {
      const Place mine = others(j);
      held[j] = mine.bits & next.bits
                    ? Stored<T>(0)
                    : from[uint32_t(mine.offset + next.offset)];
    }
    next = by.products[tile + kDepth + product()];
  }
  __device__ void put(A (&tile)[kDepth][operand_pitch(kSide)]) const {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kMatmulLoads; ++j)
      tile[product()][other() + j * kApart] = widen<T>(held[j]);
  }
};

/// A product's operands by what carries each.
template <class Row, class Column>
struct GatheredOperands {
  using Params = GatherParams;

  struct Left : Row {
    __device__ Left(const Params& p, uint32_t batch, uint32_t first,
                    uint32_t begin)
        : Row(p, p.left, p.a, batch, first, begin) {}
  };
  struct Right : Column {
    __device__ Right(const Params& p, uint32_t batch, uint32_t first,
                     uint32_t begin)
        : Column(p, p.right, p.b, batch, first, begin) {}
  };
};

/// Operands of float_product().
template <class T, uint32_t kSide>
using Gathered = GatheredOperands<
    GatherCarrier<T, kSide, Rows<kSide / kMatmulLoads>>,
    GatherCarrier<T, kSide, Columns<kSide / kMatmulLoads, kMatmulLoads>>>;

/// store_run() of neighbours that need not lie side by side.
template <class T, uint32_t kRun>
__device__ inline void store_run(const GatherParams& p, Stored<T>* out,
                                 uint32_t r, uint32_t c, uint32_t count,
                                 const Vector<T, kRun>& v) {
  Stored<T>* const row = out + int64_t(r) * p.out_row;
  uint32_t at[kRun];
  bool beside = count == kRun;
  HOTARU_UNROLL
  for (uint32_t j = 0; j < kRun; ++j) {
    at[j] = p.targets[c + j];
    beside &= at[j] == at[0] + j && at[j] != kNowhere;
  }
  Stored<T>* const to = row + at[0];
  if (kRun > 1 && beside &&
      reinterpret_cast<uintptr_t>(to) % sizeof(Vector<T, kRun>) == 0) {
    store_vector(to, v);
  } else {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kRun; ++j)
      if (j < count && at[j] != kNowhere) row[at[j]] = v.at[j];
  }
}

}  // namespace hotaru::cuda
