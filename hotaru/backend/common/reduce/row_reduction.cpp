#include "hotaru/backend/common/reduce/row_reduction.h"

#include <unordered_map>

#include "hotaru/core/tensor.h"

namespace hotaru {

namespace {
using Functions = std::unordered_map<const Kernel*, RowReductionFunction>;
Functions& functions() {
  static Functions all;
  return all;
}
}  // namespace

RowReductionFunction row_reduction_function(const Kernel& kernel) {
  const auto at = functions().find(&kernel);
  return at == functions().end() ? nullptr : at->second;
}

void set_row_reduction(const Kernel& kernel, RowReductionFunction f) {
  functions()[&kernel] = f;
}

int64_t row_of(const Tensor& out, const Tensor& in) {
  if (!out.defined() || !in.defined() || in.numel() == 0 ||
      !in.is_contiguous() || !out.is_contiguous() || out.dim() != in.dim())
    return 0;
  int64_t row = 1;
  size_t d = size_t(in.dim());
  for (; d > 0 && out.sizes()[d - 1] == 1; --d) row *= in.sizes()[d - 1];
  return same(in.sizes().first(d), out.sizes().first(d)) ? row : 0;
}

}  // namespace hotaru
