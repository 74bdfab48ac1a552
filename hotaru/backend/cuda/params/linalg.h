// Parameters of dense linear algebra, and how its kernels are launched. A block
// works on one matrix of the batch; what a kernel reads and writes is said in
// common/linalg/linalg.h.
//
//   grid         a block for each matrix; in y, where columns are solved for by
//                themselves, one for every kSolveColumns
//   block        linalg_threads(rows, columns)
//   parameters   LinalgParams
//   shared       none at launch; threads wait for each other
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Columns of right-hand sides that a block solves for together, and then the
/// next ones, where there are more than for so many blocks.
inline constexpr uint32_t kSolveColumns = 32;
inline constexpr int64_t kMostAcross = 8192;

/// Matrices of a MatrixExp's workspace: powers of A, then their sums.
inline constexpr int kExponentialPowers = 4, kExponentialSums = 5;

/// Matrices are row-major, those of a batch neighbours in memory.
struct LinalgParams {
  void* out[3] = {};
  const void* in[3] = {};
  /// For each matrix: what linalg.h says, or a code of the kernel's.
  int32_t* info = nullptr;
  /// Null, or what a library said of each matrix and, behind those of all, 1
  /// for each with a number that is not finite: Eig, Eigh and Svd are for
  /// matrices of which it is not 0 twice, the others are done.
  const int32_t* library_info = nullptr;
  /// Memory for the time of the call; bytes of each matrix.
  char* work = nullptr;
  int64_t work_bytes = 0;
  int32_t m = 0, n = 0, k = 0;
  /// Rows of Svd's vh.
  int32_t l = 0;
  /// Set if PanelParams' kernels have made LuSolve's and Determinant's factors.
  bool factored = false;
  /// Set if vectors are asked for.
  bool vectors = false;
  bool upper = false, unit = false, hermitian = false, pivot = true;
  double rcond = 0;
};

/// Columns of a matrix that one block eliminates before the rest follows, and
/// the sides of the squares by which it does; and from how many rows and
/// columns on that is worth several launches.
inline constexpr int32_t kPanel = 32, kPanelLeast = 128;

/// One panel of LU or Cholesky's factors of [m, n], in place.
///
///   PanelStart               copies `from`, the lower triangle or everything
///     grid  in y a block for every kPanel rows
///   LuPanel, CholeskyPanel   columns [begin, end) of rows begin to m
///     grid  a block for each matrix
///   LuFollow                 the other columns of rows begin to end:
///   exchanged,
///                            and right of the panel U
///     grid  in y a block for every kPanel columns of n
///   LuUpdate, CholeskyUpdate what is below and right of the panel
///     grid  in y and z a block for every kPanel columns and rows
struct PanelParams {
  const void* from = nullptr;
  char* a = nullptr;
  char* pivots = nullptr;
  /// From matrix to matrix.
  int64_t a_bytes = 0, pivot_bytes = 0;
  int32_t* info = nullptr;
  int32_t m = 0, n = 0, begin = 0, end = 0;
  bool pivot = true, lower = false;
};

/// Parameters of the search for the first matrix of `count` whose info is not
/// 0: one block.
struct LinalgCheckParams {
  const int32_t* info = nullptr;
  int64_t count = 0;
  ErrorSink errors;
};

/// Tells, for m >= n, whether singular values are R's, which is much smaller.
constexpr bool svd_is_tall(int64_t m, int64_t n) {
  return n > 0 && m >= 2 * n;
}
/// Elements of Svd's workspace: B = U S V^H, of `columns` in U, and V; lengths,
/// places and factors of reflections; R; then U and what completes it.
constexpr int64_t svd_elements(int64_t m, int64_t n, bool vectors,
                               int64_t columns) {
  return m * n + 3 * n + (svd_is_tall(m, n) ? n * n : 0) +
         (vectors ? n * n + m * (n + columns) : 0);
}

/// Threads of a block: small matrices have work for one warp only.
constexpr unsigned linalg_threads(int64_t rows, int64_t columns) {
  const int64_t elements = rows * columns;
  return elements <= 256 ? 32 : elements <= 1024 ? 64 : kBlock;
}

}  // namespace hotaru::cuda
