// Weights in 4-bit integers, with a scale and zero for each group of columns.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru::script {

/// A weight [n, k] in integers q from 0 to 15:
///   weight[i][j] = (q - 8) * scale + zero     of row i and the group of j
struct GroupedWeight {
  Tensor packed;  // uint8 [n, k / 2], n rounded up; NarrowLayout::kInt4
  Tensor scales;  // bfloat16 [k / group, n, 2]: scale, zero; of a multiple of
                  // 64 rows by blocks of these, [n / 64, k / group, 64, 2]
};

/// Columns of a group that group_weight() takes: 32, 64 or 128.
bool is_group_size(int64_t group);

/// True if group_weight takes it.
bool is_groupable(const Tensor& weight, int64_t group);

/// Computes for each group, with its least and greatest number, in bfloat16:
///   zero = low + 8 (high - low) / 15
///   scale = max((zero - low) / 8, (high - zero) / 7), at least 2^-100
/// and q the nearest integer by these, ties to even; so what rounding the zero
/// moves is still within reach. Throws ValueError for another size of group,
/// for weights that are no float32 matrix on the CPU, whose columns no groups
/// divide, without elements, or with numbers that are NaN or beyond 1e38.
GroupedWeight group_weight(const Tensor& weight, int64_t group);

}  // namespace hotaru::script
