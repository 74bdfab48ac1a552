// Parameters of matrix products, and how they are launched.
//
//   GemmLarge_<suffix>  tiles of large_side() x large_side()
//   GemmSmall_<suffix>  tiles of kSmallSide x kSmallSide
//     grid  matmul_tiles(p) by p.splits; threads wait for each other. Writes
//           the output, or sums of p.chunk products each to the workspace,
//           where there is one
//   GemmTensor_<suffix>_<order>  the same with tiles of kTensorSide squared, by
//           tensor cores: where p.tensor; order nn, nt, tn or tt, t where rows
//           of a, or columns of b, are not what lies side by side
//   GemmEnd_<suffix>    afterwards, where there is a workspace
//     grid  matmul_end_blocks(p)
//   parameters   MatmulParams for all
//   block        kBlock
//   shared       none at launch
//
//   out[i] = activation(alpha * scale * a[i] @ b[i] + beta * bias[i] +
//   residual)
//
// Suffixes are those of params/types.h. For integers and complex numbers there
// is PlainMatmul_<suffix> alone, a thread an output (matmul_end_blocks(p)),
// without scale, residual and activation.
//
//   MatmulParams p;             // sizes, strides, addresses
//   plan_matmul(p, item, sms);  // sets large, splits, chunk, a_by, b_by
//   p.workspace = memory(workspace_bytes(p, item));
#pragma once

#include <bit>

#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// How tiles of an operand are read: four elements at a time of what lies side
/// by side, the products' direction or the other one; as one vector where
/// addresses allow it.
enum class Reading : uint8_t { kAlong, kAlongVectors, kOther, kOtherVectors };

struct MatmulParams {
  void* out = nullptr;
  const void *a = nullptr, *b = nullptr;
  /// Null: none. scale is one number.
  const void *bias = nullptr, *scale = nullptr, *residual = nullptr;
  /// Sums of `splits` parts before the epilogue, [split][batch, m, n] of
  /// OpMath<T>; null: the product is finished at once.
  void* workspace = nullptr;
  uint32_t m = 1, n = 1, k = 1;
  uint32_t splits = 1;
  /// Products of a split.
  uint32_t chunk = 1;
  int64_t batch = 1;
  /// In elements. The residual's rows and the output's are contiguous.
  MatrixStrides a_at, b_at, bias_at;
  int64_t out_batch = 0, out_row = 0, residual_row = 0;
  double alpha = 1, beta = 0;
  /// Their imaginary parts, of complex products.
  double imaginary_alpha = 0, imaginary_beta = 0;
  int64_t integer_alpha = 1, integer_beta = 0;
  /// Counts of the output's tiles.
  Divider tiles_m, tiles_n;
  Divider columns, rows;  // n and m
  Reading a_by = Reading::kAlong, b_by = Reading::kAlong;
  bool large = false, tensor = false;
  /// Set if four neighbours of the output are one vector.
  bool out_vectors = false;
  Activation activation = Activation::kNone;
};

/// Threads of a block are a square of so many; each has each_of(side) squared
/// outputs, and loads kMatmulLoads elements of either operand of a tile.
inline constexpr uint32_t kSquare = 16;
inline constexpr uint32_t kMatmulLoads = 4;
inline constexpr uint32_t kSmallSide = 32;
constexpr uint32_t large_side(int64_t item) {
  return item == 8 ? 64 : 128;  // twice as large is too many registers
}
/// Tiles of tensor cores: outputs, and products at a time.
inline constexpr uint32_t kTensorSide = 128, kTensorDepth = 32;
/// More rows and columns than that are worth a tile of theirs, even if it
/// stays empty for the most part: sums in registers take ten times as long.
inline constexpr uint32_t kLeastTensorSide = 16;
/// Products of a tile.
constexpr uint32_t tile_depth(uint32_t side) {
  return kBlock * kMatmulLoads / side;
}
/// Elements from one of its rows in shared memory to the next.
constexpr uint32_t operand_pitch(uint32_t side) {
  return side + 4;
}

constexpr int64_t matmul_tiles(const MatmulParams& p) {
  return int64_t{p.tiles_m.divisor} * p.tiles_n.divisor * p.batch;
}
constexpr int64_t matmul_outputs(const MatmulParams& p) {
  return p.batch * p.m * p.n;
}
constexpr int64_t matmul_end_blocks(const MatmulParams& p) {
  return ceil_divide(matmul_outputs(p), kBlock);
}
/// item: bytes of OpMath<T>.
constexpr int64_t workspace_bytes(const MatmulParams& p, int64_t item) {
  return p.splits > 1 || p.activation != Activation::kNone
             ? p.splits * matmul_outputs(p) * item
             : 0;
}

/// `at`: strides of an operand along the products and in the other direction.
inline Reading reading_of(const void* address, int64_t batch, int64_t along,
                          int64_t other, int64_t item) {
  const bool is_along = along == 1 || other != 1;
  const int64_t step = is_along ? other : along;
  const bool vectors =
      (is_along ? along : other) == 1 && step % kMatmulLoads == 0 &&
      batch % kMatmulLoads == 0 &&
      std::bit_cast<uintptr_t>(address) % uintptr_t(item * kMatmulLoads) == 0;
  return is_along  ? vectors ? Reading::kAlongVectors : Reading::kAlong
         : vectors ? Reading::kOtherVectors
                   : Reading::kOther;
}

/// Tells whether tensor cores can read an operand: chunks of 16 bytes lie side
/// by side and at multiples of their size. Strides are those of reading_of().
inline bool reads_chunks(const void* address, int64_t batch, int64_t along,
                         int64_t other) {
  constexpr int64_t kChunk = 8;
  const int64_t step = along == 1 ? other : along;
  return (along == 1 || other == 1) && step % kChunk == 0 &&
         batch % kChunk == 0 && std::bit_cast<uintptr_t>(address) % 16 == 0;
}

/// The same of both operands.
inline bool reads_chunks(const MatmulParams& p) {
  return reads_chunks(p.a, p.a_at.batch, p.a_at.column, p.a_at.row) &&
         reads_chunks(p.b, p.b_at.batch, p.b_at.row, p.b_at.column);
}

/// Sets how it is computed. item: bytes of an element; sms: processors of the
/// device. Results depend on it by rounding only.
/// tensor_cores: whether they take such elements, lying as they do.
inline void plan_matmul(MatmulParams& p, int64_t item, int sms,
                        bool tensor_cores = false) {
  const auto tiles = [&](uint32_t side) {
    return ceil_divide(p.m, side) * ceil_divide(p.n, side) * p.batch;
  };
  // A large tile's outputs take a third of the time of small ones', but there
  // have to be enough of them, split or not.
  const uint32_t side = large_side(item);
  const auto most_splits = [&](uint32_t depth) -> int64_t {
    return p.k / (int64_t{depth} * 16);
  };
  const int64_t deep = most_splits(tile_depth(side));
  const uint32_t least = tensor_cores ? kLeastTensorSide : kSmallSide;
  p.large = p.m > least && p.n > least &&
            tiles(side) *
                    (deep < 1    ? 1
                     : deep < 16 ? deep
                                 : 16) *
                    3 >=
                sms;
  const uint32_t chosen = p.large ? side : kSmallSide;
  p.tensor = p.large && tensor_cores;
  const uint32_t depth = p.tensor ? kTensorDepth : tile_depth(chosen);
  p.tiles_m = Divider(uint32_t(ceil_divide(p.m, chosen)));
  p.tiles_n = Divider(uint32_t(ceil_divide(p.n, chosen)));
  p.columns = Divider(p.n);
  p.rows = Divider(p.m);
  const int64_t room = int64_t{sms} * 2 / tiles(chosen);
  int64_t splits = room < most_splits(depth) ? room : most_splits(depth);
  if (splits > 64) splits = 64;
  p.splits = 1;
  p.chunk = p.k;
  if (splits > 1) {
    p.chunk = uint32_t(ceil_divide(ceil_divide(p.k, splits), depth) * depth);
    p.splits = uint32_t(ceil_divide(p.k, p.chunk));
  }
  p.out_vectors = reading_of(p.out, p.out_batch, 1, p.out_row, item) ==
                  Reading::kAlongVectors;
  p.a_by = reading_of(p.a, p.a_at.batch, p.a_at.column, p.a_at.row, item);
  p.b_by = reading_of(p.b, p.b_at.batch, p.b_at.row, p.b_at.column, item);
}

}  // namespace hotaru::cuda
