// Parameters of the kernels that choose elements by value, and how they are
// launched.
//
//   CountChosen_<bytes>    of each block's elements, how many are not 0, by the
//                          size of what chooses
//   then, with the same parameters and grid, one of
//   Select_<bytes>         out[rank] = other, by the size of other's elements;
//                          one byte chooses, as in the next
//   ScatterChosen_<bytes>  other = out[rank]
//   Positions_<bytes>      out[rank] = coordinates, int64
//   parameters   SelectParams for all
//   grid         select_blocks(p)
//   block        kBlock
//   shared       none at launch; threads wait for each other
//
// Elements that are cut into several launches are counted by all before the
// rest. And
//
//   TotalChosen            the sum of all counts: TotalParams, one block
//   RunStarts_<type>       what chooses the first of equal neighbours, a byte
//                          each: RunParams, blocks_for(n, kBlock)
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

struct SelectParams {
  static constexpr int kMaxDims = 16;

  const void* chosen = nullptr;
  void* other = nullptr;
  /// One after another.
  void* out = nullptr;
  /// Room for elements there; more is reported, with code 0.
  int64_t room = 0;
  /// [blocks], of all launches.
  int64_t* counts = nullptr;
  uint32_t numel = 0;
  /// Shares of earlier launches in the space: elements and blocks.
  int64_t first = 0;
  uint32_t first_block = 0;
  /// Elements of each block.
  uint32_t chunk = 1;
  /// The bits that make an element other than 0, of up to 8 bytes each: the
  /// sign of a floating number does not.
  uint64_t bits[2] = {~uint64_t{0}, ~uint64_t{0}};
  ErrorSink errors;
  /// In row-major order. Operands: chosen, other.
  Index<2> at;
  /// The tensor's dimensions, the innermost first, for Positions.
  int32_t dims = 0;
  int64_t sizes[kMaxDims] = {};
};

struct TotalParams {
  const int64_t* counts;
  uint32_t blocks;
  int64_t* total;
};

/// starts[i], i < n: whether in[i] is the first or differs from in[i - 1].
struct RunParams {
  const void* in;
  int64_t n;
  void* starts;
};

/// Elements of a thread between two barriers, and of a block.
inline constexpr uint32_t kSelectEach = 4;
inline constexpr uint32_t kSelectTile = kBlock * kSelectEach;

/// Sets p.chunk. sms: processors of the device.
constexpr void plan_select(SelectParams& p, int sms) {
  const int64_t tiles = ceil_divide(p.numel, kSelectTile);
  const int64_t most = int64_t{sms} * 8;
  p.chunk =
      uint32_t(ceil_divide(tiles, tiles < most ? tiles : most) * kSelectTile);
}
constexpr uint32_t select_blocks(const SelectParams& p) {
  return uint32_t(ceil_divide(p.numel, p.chunk));
}

}  // namespace hotaru::cuda
