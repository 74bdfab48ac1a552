#include "hotaru/backend/common/reduce/row_reduction.h"

#include <unordered_map>

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

}  // namespace hotaru
