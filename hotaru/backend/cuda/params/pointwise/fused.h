// Parameters of kernels that are made of several formulas at run time; their
// text is fused/element_text.h's.
#pragma once

#include <cstddef>

#include "hotaru/backend/cuda/params/reduce.h"

namespace hotaru::cuda {

struct FusedParams {
  static constexpr int kMostOperands = 12, kMostFormulas = 12,
                       kMostNumbers = 16;

  /// First elements of what lies in memory.
  void* address[kMostOperands] = {};
  uint32_t numel = 0;
  /// Formula objects with members, F<OpMath<T>>.
  alignas(16) std::byte formula[kMostFormulas][64] = {};
  /// Numbers from the CPU, OpMath<T>.
  alignas(16) std::byte number[kMostNumbers][16] = {};
  /// Index of kernels for any strides.
  Index<kMostOperands> index;
};
static_assert(sizeof(FusedParams) <= 4096);

/// Parameters of kernels in which teams of threads keep rows: the last
/// dimensions of the elements' shape.
struct FusedRowParams {
  static constexpr int kMostOperands = FusedParams::kMostOperands,
                       kMostFormulas = FusedParams::kMostFormulas,
                       kMostNumbers = FusedParams::kMostNumbers;

  void* address[kMostOperands] = {};
  uint32_t rows = 1, columns = 1;
  /// Threads that share a row: row_lanes(columns).
  uint32_t lanes = 1;
  /// Set if a thread's elements lie side by side (device/pieces.h), and bits of
  /// the operands that are read and written so by vectors.
  bool vectors = false;
  uint32_t whole = 0;
  /// Bytes from column to column.
  int64_t step[kMostOperands] = {};
  alignas(16) std::byte formula[kMostFormulas][64] = {};
  alignas(16) std::byte number[kMostNumbers][16] = {};
  /// Index of rows.
  Index<kMostOperands> index;
};
static_assert(sizeof(FusedRowParams) <= 4096);
/// Parameters of reductions whose elements are computed as they are reduced:
/// they lie, or would, as those of all operands do.
struct FusedReduceParams {
  static constexpr int kMostOperands = FusedParams::kMostOperands,
                       kMostFormulas = FusedParams::kMostFormulas,
                       kMostNumbers = FusedParams::kMostNumbers;

  ReduceParams reduce;
  void* address[kMostOperands] = {};
  alignas(16) std::byte formula[kMostFormulas][64] = {};
  alignas(16) std::byte number[kMostNumbers][16] = {};
};
static_assert(sizeof(FusedReduceParams) <= 4096);

/// Columns that kernels of rows keep at most: 16 of each thread.
inline constexpr int64_t kMostColumns = 16 * kBlock;

}  // namespace hotaru::cuda
