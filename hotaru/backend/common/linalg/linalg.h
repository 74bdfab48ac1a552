// What the kernels of dense linear algebra are told besides their operands.
#pragma once

#include "hotaru/core/dtype.h"
#include "hotaru/core/special_errors.h"

namespace hotaru {

using LinalgTypes =
    TypeList<float, double, std::complex<float>, std::complex<double>>;

/// Operands are row-major batches of matrices.
///   "linalg_solve"        write x [m, n], read a [m, m], read b [m, n]
///   "linalg_determinant"  write det, write sign, write log of the modulus,
///                         read a [m, m]
///   "linalg_cholesky"     write l [m, m], read a [m, m] (its lower triangle)
///   "linalg_qr"           write q [m, k], write r [k, n], read a [m, n]
/// They throw LinAlgError for singular and indefinite matrices.
struct LinalgAttributes {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  /// Whether there is a batch dimension, for messages.
  bool batched = false;
  /// "linalg_solve" was asked for an inverse.
  bool inverse = false;
  /// The operator, in messages of "linalg_cholesky".
  const char* name = "";
};

}  // namespace hotaru
