// Parameters of the kernels that move, convert, fill and select elements.
//
//   Copy_<to>_<from>      CopyParams        dense and aligned, copies_well();
//                                           to may be from
//   Copy_<to>_<from>_s    StridedCopyParams any strides
//   Move_<bytes>_s        StridedCopyParams elements of one dtype, by their
//                                           size: 1, 2, 4, 8 or 16. (Dense ones
//                                           are cuMemcpyAsync's.)
//   Fill_<bytes>[_s]      FillParams, StridedFillParams
//   Where_<bytes>[_s]     WhereParams, StridedWhereParams
//
// Suffixes are those of params/types.h; complex elements are moved, filled and
// selected by their size. Blocks have kBlock threads and no shared memory, the
// threads do not wait for each other. Elements of a block: copy_items() for
// dense copies, word_items() for dense fills and selections, kStridedItems (of
// params/pointwise.h) for all strided ones.
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
/// Whether dense operands lie so that dense copies may have them.
inline bool copies_well(const void* to, size_t to_size, const void* from,
                        size_t from_size) {
  const uint32_t length = copy_length(to_size, from_size);
  return reinterpret_cast<uintptr_t>(to) % (length * to_size) == 0 &&
         reinterpret_cast<uintptr_t>(from) % (length * from_size) == 0;
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
/// Whether a dense operand of Fill or Where lies well. Masks need addresses
/// that are multiples of word_length(size).
inline bool lies_well_for_words(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

}  // namespace hotaru::cuda
