// Parameters of the kernels of normalisation besides their operands.
#pragma once

#include <cstdint>

namespace hotaru {

/// x is `rows` rows of `columns` elements, each row normalised by its own mean
/// and variance. Element j of row r is then scaled by weight number
///   (r % period) * step + j / inner
/// and shifted by the bias of that number. Layer norm: period 1, step 0,
/// inner 1. Group norm: period groups, step C / groups, inner H W.
/// Operands of "row_norm": write out, write mean [rows], write rstd [rows],
/// read x, read weight, read bias (undefined: 1 and 0). Of "row_norm_grad":
/// write gx, write gweight, write gbias (each may be undefined), read g,
/// read x, read mean, read rstd, read weight. mean and rstd are of the type
/// arithmetic is done in, weights may be float beside 16-bit x.
struct RowNormAttributes {
  int64_t rows = 1, columns = 1;
  int64_t period = 1, step = 0, inner = 1;
  double eps = 1e-5;
};

/// x is [N, C, ...]; each channel is normalised over the rest. Operands of
/// "batch_norm": write out, write mean [C], write rstd [C], update running
/// mean, update running variance (undefined: none), read x, read weight, read
/// bias. In training mean and rstd come from x and the running values move
/// towards them by `momentum` (the variance without bias); else they come from
/// the running values. Operands of "batch_norm_grad" as for "row_norm_grad".
struct BatchNormAttributes {
  bool training = true;
  double momentum = 0.1;
  double eps = 1e-5;
};

}  // namespace hotaru
