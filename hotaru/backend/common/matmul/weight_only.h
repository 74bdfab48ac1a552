// Products of floats with weights that are kept in 8 or 4 bits, as they lie.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hotaru {

/// How the weights [n, k] lie.
enum class NarrowLayout : uint8_t {
  /// [n, k] of int8, each row times its scale: scales [n].
  kInt8,
  /// Rows in blocks of 64 (the last one has what is left): for each k the
  /// bytes of the block's rows. A whole block has its rows j and j + 32 in one
  /// byte, low bits first; what is left over, its neighbours, and beside the
  /// last row of an odd number nothing that counts. Element q stands for (q -
  /// 8) * scale + zero; scales [k / group, n, 2] has both or, with
  /// scales_by_blocks of rows, [n / 64, k / group, 64, 2].
  kInt4,
  /// GGUF's blocks of 32 elements, row by row: a half-precision scale d, then
  /// 32 bytes q, for q * d; ...
  kQ8_0,
  /// ... or 16 bytes, the low bits of byte i for element i, the high bits for
  /// i + 16, for (q - 8) * d.
  kQ4_0,
  /// Other blocks, row by row, which `unpack` makes floats of.
  kBlocks,
};

/// Rows of a whole block of kInt4.
inline constexpr int64_t kInt4Rows = 64;

/// Which of kInt4's pairs of scale and zero is that of a row and group, where
/// `together` rows, all or a block's, have theirs side by side in each group.
constexpr int64_t int4_pair(int64_t row, int64_t group, int64_t groups,
                            int64_t together) {
  const int64_t in_block = row % together;
  return (row - in_block) * groups + group * together + in_block;
}

/// Operands of "weight_only_linear": write out [m, n], row-major; read x [m, k]
/// of the same floats (float32 or 16 bits), rows x_row elements apart; read the
/// weights; read scales, of x's dtype (kInt8 and kInt4, else undefined) or, of
/// kInt4 beside float32, bfloat16; read bias [n], or undefined:
///   out = x @ transpose(weights) + bias
/// with sums in float32. Of few rows kQ4_0 may round x to 16-bit integers by
/// blocks of 32, kInt4 to 24-bit ones by groups, each with its scale, and kInt8
/// rows that have no number far above the others. k is a
/// multiple of `group` (kInt4), of 32 (kQ8_0, kQ4_0) or of block_elements.
/// unpack(blocks, count, out) and the two sizes are given for all three kinds
/// of blocks.
struct WeightOnlyAttributes {
  NarrowLayout layout = NarrowLayout::kInt8;
  int64_t m = 0, n = 0, k = 0;
  int64_t x_row = 0;
  int64_t group = 0;
  bool scales_by_blocks = false;  // where 64 divides n
  void (*unpack)(const std::byte* blocks, int64_t count, float* out) = nullptr;
  int64_t block_elements = 1, block_bytes = 1;
};

}  // namespace hotaru
