// Tables of embeddings in integers of 8 or 4 bits.
#pragma once

#include <optional>

#include "hotaru/core/tensor.h"
#include "hotaru/script/ir/ir.h"

namespace hotaru::script {

/// Bits and the columns that share a scale; 0: all of a row.
struct NarrowTableForm {
  int64_t bits = 8;
  int64_t group = 0;
};

/// True if narrow_table takes it.
bool is_narrowable(const Tensor& table, const NarrowTableForm& form);

/// A table [rows, columns] as "narrow_rows" reads it (narrow_rows.h), each part
/// in the integers, scale and bias that PyTorch's prepacking chooses:
///   8 bits: scale = (high - low) / 255, bias = low
///           q = round((w - low) * (255 / (high - low + 1e-8)))
///   4 bits: bias = low and scale = (high - bias) / 15, both of half precision
///           q = saturate(round((w - bias) / scale))
/// Throws ValueError for tables that are no float32 matrix on the CPU, without
/// elements, whose columns are no whole parts (of 4 bits even ones), or with
/// numbers that are NaN or too large: beyond 1e38, of 4 bits 30,000.
Tensor narrow_table(const Tensor& table, const NarrowTableForm& form);

/// Constant table that the node is an embedding of, which then is its first
/// input; null if not.
const Tensor* constant_table(const Node& node);

}  // namespace hotaru::script
