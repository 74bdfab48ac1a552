// Parameters of the kernels of dense linear algebra besides their operands.
#pragma once

#include "hotaru/core/dtype.h"

namespace hotaru {

using LinalgTypes =
    TypeList<float, double, std::complex<float>, std::complex<double>>;

/// Operands are row-major batches of matrices. Pivots are LAPACK's: int32, from
/// 1 on, of LDL^T negative for blocks of two. An `info` is an int32 for each
/// matrix, 0 or where the factorisation met a zero.
///   "linalg_solve"        write x [m, n], info, read a [m, m], read b [m, n]
///   "linalg_determinant"  write det, write sign, write log of the modulus,
///                         read a [m, m]
///   "linalg_lu"           write lu [m, n], pivots [k], info, read a [m, n]
///   "linalg_permutation"  write int64 rows [m], read pivots [k]: row i of P^T
///   A
///                         is row rows[i] of A
///   "linalg_triangular"   write x [m, n], read a [m, m], read b [m, n]
///   "linalg_cholesky"     write l [m, m], info, read a [m, m] (its lower
///                         triangle)
///   "linalg_qr"           write q [m, k], write r [k, n], read a [m, n]
///   "linalg_geqrf"        write qr [m, n], write tau [k], read a [m, n]
///   "linalg_householder"  write q [m, n], read v [m, n], read tau [k]
///   "linalg_ldl"          write ld [m, m], pivots [m], info, read a [m, m]
///   "linalg_ldl_solve"    write x [m, n], read ld, read pivots, read b [m, n]
///   "linalg_svd"          write s [min(m, n)], write u [m, k] and vh [l, n] or
///                         neither, read a [m, n]; k and l are m and n, or both
///                         min(m, n)
///   "linalg_least_squares" write x [n, k], write rank [] int64, read a [m, n],
///                         read b [m, k]
///   "linalg_eigh"         write values [m], write vectors [m, m] or nothing,
///                         read a [m, m] (its lower triangle)
///   "linalg_eig"          the same with complex results of a whole matrix
///   "linalg_matrix_exp"   write e [m, m], read a [m, m]
/// If `check`, they throw LinAlgError where info is not 0.
struct LinalgAttributes {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  /// Set if there is a batch dimension, for messages.
  bool batched = false;
  /// Failures throw; in "linalg_triangular" they are zeros on the diagonal.
  bool check = false;
  /// "linalg_solve" was asked for an inverse; "linalg_permutation" for a
  /// solution, in messages.
  bool inverse = false;
  /// For triangular matrices: which triangle, and whether ones are on its
  /// diagonal.
  bool upper = false, unit = false;
  /// "linalg_ldl": the factors are L D L^H, not L D L^T.
  bool hermitian = false;
  /// "linalg_lu" exchanges rows.
  bool pivot = true;
  /// "linalg_least_squares": singular values up to so many times the greatest
  /// count as zero.
  double rcond = 0;
  /// The operator, in messages.
  const char* name = "";
};

}  // namespace hotaru
