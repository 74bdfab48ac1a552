// How tiles of matrices come to shared memory, for tensor cores.
#pragma once

#include "hotaru/backend/cuda/device/tensor_tile.h"
#include "hotaru/backend/cuda/params/matmul.h"

namespace hotaru::cuda {

/// A tile of one operand: with kAlong rows of kDepth products, else kDepth rows
/// of kSide.
template <bool kAlong>
using OperandTile = TensorTile<kAlong ? kTensorDepth : kTensorSide>;

/// A thread's part in bringing tiles of one operand: two chunks of each.
template <bool kAlong>
struct TensorCarrier {
  static constexpr uint32_t kChunks = 2;
  static constexpr uint32_t kPerRow =
      (kAlong ? kTensorDepth : kTensorSide) / kChunk;

  const uint16_t* from[kChunks];
  int64_t advance;
  uint32_t target[kChunks];
  uint32_t product[kChunks];  // of the chunk's first element
  uint32_t room[kChunks];     // elements inside in the other direction

  /// Carrier of rows [first, limit) of what starts at `base`.
  __device__ TensorCarrier(const void* base, int64_t along_step,
                           int64_t other_step, uint32_t first, uint32_t limit,
                           uint32_t begin) {
    advance = kTensorDepth * along_step;
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kChunks; ++i) {
      const uint32_t n = threadIdx.x + i * kBlock;
      const uint32_t row = n / kPerRow, chunk = n % kPerRow;
      const uint32_t other = first + (kAlong ? row : chunk * kChunk);
      product[i] = kAlong ? chunk * kChunk : row;
      room[i] = other < limit ? limit - other : 0;
      target[i] = OperandTile<kAlong>::offset(row, chunk);
      from[i] = static_cast<const uint16_t*>(base) +
                (int64_t(begin) + product[i]) * along_step +
                int64_t(other) * other_step;
    }
  }

  /// Begins to copy the part of the tile whose first product is `k`; what is
  /// not there becomes 0.
  __device__ void fetch(char* tile, uint32_t k, uint32_t end) {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kChunks; ++i) {
      const uint32_t at = k + product[i];
      const uint32_t left = at < end ? end - at : 0;
      const uint32_t elements =
          kAlong ? (room[i] ? left : 0) : (left ? room[i] : 0);
      copy_async(tile + target[i], from[i],
                 elements < kChunk ? elements * 2 : kChunk * 2);
      from[i] += advance;
    }
  }
};

/// The operands of a plain product.
template <bool kAAlong, bool kBAlong>
struct TensorMatrices {
  using Params = MatmulParams;
  static constexpr bool kLeftAlong = kAAlong, kRightAlong = kBAlong;

  struct Left : TensorCarrier<kAAlong> {
    __device__ Left(const Params& p, uint32_t batch, uint32_t first,
                    uint32_t begin)
        : TensorCarrier<kAAlong>(
              static_cast<const uint16_t*>(p.a) + int64_t(batch) * p.a_at.batch,
              p.a_at.column, p.a_at.row, first, p.m, begin) {}
  };
  struct Right : TensorCarrier<kBAlong> {
    __device__ Right(const Params& p, uint32_t batch, uint32_t first,
                     uint32_t begin)
        : TensorCarrier<kBAlong>(
              static_cast<const uint16_t*>(p.b) + int64_t(batch) * p.b_at.batch,
              p.b_at.row, p.b_at.column, first, p.n, begin) {}
  };
};

}  // namespace hotaru::cuda
