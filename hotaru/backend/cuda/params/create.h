// Parameters of the kernels that move, convert, fill and select elements.
//
//   Copy_<to>_<from>      CopyParams        dense and aligned, copies_well();
//                                           to may be from
//   Copy_<to>_<from>_s    StridedCopyParams any strides
//   Move_<bytes>_s        StridedCopyParams elements of one dtype, by their
//                                           size: 1, 2, 4, 8 or 16. (Dense ones
//                                           are cuMemcpyAsync's.)
//   Transpose_<bytes>     TransposeParams   the same where one dimension lies
//                                           side by side in the input and
//                                           another one in the output; 1, 2, 4
//                                           or 8 bytes
//   Fill_<bytes>[_s]      FillParams, StridedFillParams
//   Where_<bytes>[_s]     WhereParams, StridedWhereParams
//
// Suffixes are those of params/types.h; complex elements are moved, filled and
// selected by their size. Blocks have kBlock threads and no shared memory, the
// threads do not wait for each other. Elements of a block: copy_items() for
// dense copies, word_items() for dense fills and selections, kStridedItems (of
// params/pointwise.h) for all strided ones; transposes have transpose_blocks()
// blocks, and their threads wait for each other.
#pragma once

#include "hotaru/backend/cuda/params/pointwise.h"

namespace hotaru::cuda {

struct CopyParams {
  void* out = nullptr;
  const void* in = nullptr;
  uint32_t numel = 0;
};
/// Operands: out, in.
struct StridedCopyParams {
  CopyParams copy;
  Index<2> index;
};

/// Elements that a thread of a dense copy has at once: 16 bytes of the larger
/// ones; and so many times, four of them.
constexpr uint32_t copy_length(size_t to_size, size_t from_size) {
  return vector_length(to_size > from_size ? to_size : from_size);
}
inline constexpr uint32_t kCopyVectors = 4;
constexpr uint32_t copy_items(size_t to_size, size_t from_size) {
  return kBlock * copy_length(to_size, from_size) * kCopyVectors;
}
/// Tells whether dense operands lie so that dense copies may have them.
inline bool copies_well(const void* to, size_t to_size, const void* from,
                        size_t from_size) {
  const uint32_t length = copy_length(to_size, from_size);
  return reinterpret_cast<uintptr_t>(to) % (length * to_size) == 0 &&
         reinterpret_cast<uintptr_t>(from) % (length * from_size) == 0;
}

/// Side of the squares in which a transposed copy goes through shared memory,
/// so that reads and writes are both of neighbours.
inline constexpr uint32_t kTile = 32;

/// out[.., a, b] = in[.., a, b], where a lies side by side in the input and b
/// in the output.
struct TransposeParams {
  void* out = nullptr;
  const void* in = nullptr;
  uint32_t a = 0, b = 0;
  /// Bytes from one to the next a in the output, and b in the input.
  int64_t out_step = 0, in_step = 0;
  /// Set by plan_transpose().
  Divider tiles_a, tiles_b;
  /// The other dimensions, and their product. Operands: out, in.
  Index<2> others;
  uint32_t copies = 1;
};

inline void plan_transpose(TransposeParams& p) {
  p.tiles_a = Divider(uint32_t(ceil_divide(p.a, kTile)));
  p.tiles_b = Divider(uint32_t(ceil_divide(p.b, kTile)));
}
/// No more than 2^31 - 1.
constexpr int64_t transpose_blocks(const TransposeParams& p) {
  return int64_t{p.tiles_a.divisor} * p.tiles_b.divisor * p.copies;
}

struct FillParams {
  void* out = nullptr;
  uint32_t numel = 0;
  /// An element.
  alignas(16) std::byte value[16] = {};
};
struct StridedFillParams {
  FillParams fill;
  Index<1> index;
};

/// x where the mask (bytes) is not 0, else y.
struct WhereParams {
  void* out = nullptr;
  const void* mask = nullptr;
  /// Null where it is one value for all.
  const void* x = nullptr;
  const void* y = nullptr;
  uint32_t numel = 0;
  alignas(16) std::byte x_value[16] = {};
  alignas(16) std::byte y_value[16] = {};
};
/// Operands: out, mask, x, y.
struct StridedWhereParams {
  WhereParams where;
  Index<4> index;
};

/// Elements of `size` bytes that a thread moves at once, at most 8 as each is
/// chosen on its own, and that a block of Fill or Where takes.
constexpr uint32_t word_length(size_t size) {
  return size > 1 ? uint32_t(16 / size) : 8;
}
inline constexpr uint32_t kWordVectors = 2;
constexpr uint32_t word_items(size_t size) {
  return kBlock * word_length(size) * kWordVectors;
}
/// Tells whether a dense operand of Fill or Where lies well. Masks need
/// addresses that are multiples of word_length(size).
inline bool lies_well_for_words(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

}  // namespace hotaru::cuda
