// Errors of backends for positions that are out of range.
#pragma once

#include <string_view>

#include "hotaru/core/checks/check.h"

namespace hotaru {

template <class E = Error>
[[noreturn]] inline void index_out_of_bounds(int64_t index, int64_t dim,
                                             int64_t size) {
  fail<E>("index ", index, " is out of bounds for dimension ", dim,
          " with size ", size);
}

/// For an operator that reads or writes whole slices.
[[noreturn]] inline void slice_out_of_bounds(std::string_view op, int64_t index,
                                             int64_t dim, int64_t size) {
  if (op == "index_select") fail<IndexError>("index out of range in self");
  if (op == "index_copy_")
    fail<IndexError>("index_copy_(): index ", index,
                     " is out of bounds for dimension ", dim, " with size ",
                     size);
  if (op == "index_fill_") index_out_of_bounds<IndexError>(index, dim, size);
  index_out_of_bounds(index, dim, size);
}

}  // namespace hotaru
