#include "hotaru/backend/cuda/pointwise/formula.h"

#include <unordered_map>

namespace hotaru::cuda {
namespace {

// Filled while the library is loaded.
std::unordered_map<const Kernel*, FormulaInfo>& formulas_by_kernel() {
  static auto* all = new std::unordered_map<const Kernel*, FormulaInfo>;
  return *all;
}

}  // namespace

const FormulaInfo* formula_of(const Kernel& kernel) {
  const auto at = formulas_by_kernel().find(&kernel);
  return at == formulas_by_kernel().end() ? nullptr : &at->second;
}

void set_formula(const Kernel& kernel, const FormulaInfo& info) {
  formulas_by_kernel().emplace(&kernel, info);
}

}  // namespace hotaru::cuda
