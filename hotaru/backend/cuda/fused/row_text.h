// Calls on rows, and elementwise ones before, between and after them, as the
// text of one kernel: teams of threads keep their rows in registers.
#pragma once

#include "hotaru/backend/cuda/fused/row_part.h"
#include "hotaru/backend/cuda/fused/writer.h"

namespace hotaru::cuda::fused {

struct RowText {
  FusedValues values;
  std::string text;
  /// Operand of the elements' shape; its last dimensions are a row.
  const Tensor* elements = nullptr;
  size_t row_dims = 0;
  std::vector<RowPart> parts;
};

/// Text of calls with `columns`. An empty text if it is too much for one
/// kernel.
RowText row_text(const FusedCalls& calls);

/// Tells whether all of a row sees one element of the operand.
bool one_a_row(const Tensor& t, size_t row_dims);

}  // namespace hotaru::cuda::fused
