// Bounds of linspace and logspace that may be tensors without dimensions.
#pragma once

#include <string>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/host_value.h"

namespace hotaru {

/// The number in a bound; `op` as for check_bounds().
inline Scalar bound_of(const char* op, const Tensor& t) {
  return as_number(t.dtype(),
                   host_value(t, concat("a bound of ", op, "()").c_str()));
}

/// Throws PyTorch's text, which names `op`, for bounds with dimensions. An
/// undefined one was given as a number.
inline void check_bounds(const char* op, const Tensor& start,
                         const Tensor& end) {
  std::string rest;
  for (const auto& [name, t] : {std::pair{"start", &start}, {"end", &end}})
    if (t->defined() && t->dim() > 0)
      rest += concat(rest.empty() ? "" : " and ", name, " with ", t->dim(),
                     " dimension(s)");
  HOTARU_CHECK(rest.empty(), op,
               " only supports 0-dimensional start and end tensors, but got ",
               rest, ".");
}

}  // namespace hotaru
