// Traits that operands have to have in common, and results with what they are
// written into, in the words of PyTorch's errors.
#pragma once

#include <string_view>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/dtype.h"
#include "hotaru/core/shape.h"

namespace hotaru {

/// Throws unless an operand has the dtype of one before it.
inline void check_operand(DType expected, DType found) {
  HOTARU_CHECK(expected == found, "expected scalar type ",
               scalar_type_name(expected), " but found ",
               scalar_type_name(found));
}
/// The same, as losses and draws say it.
inline void check_found(DType found, DType expected) {
  HOTARU_CHECK(found == expected, "Found dtype ", scalar_type_name(found),
               " but expected ", scalar_type_name(expected));
}

/// Throws unless a result has the shape of what it is written into.
inline void check_result_shape(IntSpan out, IntSpan result) {
  HOTARU_CHECK(same(out, result), "output with shape ", shape_text(out),
               " doesn't match the broadcast shape ", shape_text(result));
}

/// Throws unless a number is one of the type's.
inline void check_converts(bool fits, std::string_view type) {
  HOTARU_CHECK(fits, "value cannot be converted to type ", type,
               " without overflow");
}

/// Throws unless a dimension is named for the first time.
inline void check_once(bool seen, int64_t dim) {
  HOTARU_CHECK(!seen, "dim ", dim,
               " appears multiple times in the list of dims");
}

}  // namespace hotaru
