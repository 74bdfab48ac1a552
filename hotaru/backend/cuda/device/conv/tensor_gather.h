// Gathered operands of tensor cores: chunks of eight elements that lie side by
// side and begin at multiples of 16 bytes; see params/conv/gather.h.
#pragma once

#include "hotaru/backend/cuda/device/conv/gather.h"
#include "hotaru/backend/cuda/device/matmul/tensor_carrier.h"

namespace hotaru::cuda {

/// Shape of a tile with rows of kAlong ? products : others.
template <bool kAlong>
struct ChunkShape {
  static constexpr uint32_t kPerRow =
      (kAlong ? kTensorDepth : kTensorSide) / kChunk;
  static constexpr uint32_t kRows = kBlock / kPerRow;  // between both chunks
  static constexpr uint32_t kOthers = kAlong ? 2 : 1, kProducts = 3 - kOthers;
  using Left = Rows<kRows, kAlong ? 1 : kChunk>;
  using Right = Columns<kRows, kOthers>;
};

/// A thread's two chunks of each tile: of one chunk of products and two others,
/// or the reverse.
template <bool kAlong, class Others>
struct TensorGather {
  using Shape = ChunkShape<kAlong>;

  const uint16_t* from;
  const Place* products;
  uint32_t row, chunk;
  uint32_t target[2];
  Others others;
  Place next[Shape::kProducts];

  __device__ TensorGather(const GatherParams& p, const GatheredOperand& by,
                          const void* base, uint32_t batch, uint32_t first,
                          uint32_t begin)
      : from(static_cast<const uint16_t*>(base)),
        products(by.products),
        row(threadIdx.x / Shape::kPerRow),
        chunk(threadIdx.x % Shape::kPerRow),
        others(p, batch, first + (kAlong ? row : chunk * kChunk)) {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < 2; ++i)
      target[i] = OperandTile<kAlong>::offset(row + i * Shape::kRows, chunk);
    look(begin);
  }

  __device__ void look(uint32_t tile) {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < Shape::kProducts; ++i)
      next[i] =
          products[tile + (kAlong ? chunk * kChunk : row + i * Shape::kRows)];
  }
  /// As TensorCarrier's, of tiles in their order; places know the end.
  __device__ void fetch(char* tile, uint32_t k, uint32_t) {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < 2; ++i) {
      const Place a = others(kAlong ? i : 0), b = next[kAlong ? 0 : i];
      const bool real = (a.bits & b.bits) == 0;
      copy_async(tile + target[i],
                 from + (real ? uint32_t(a.offset + b.offset) : 0),
                 real ? kChunk * 2 : 0);
    }
    look(k + kTensorDepth);
  }
};

/// The operands of tensor_product().
template <bool kAlong>
struct TensorGathered
    : GatheredOperands<
          TensorGather<kAlong, typename ChunkShape<kAlong>::Left>,
          TensorGather<kAlong, typename ChunkShape<kAlong>::Right>> {
  static constexpr bool kLeftAlong = kAlong, kRightAlong = kAlong;
};

}  // namespace hotaru::cuda
