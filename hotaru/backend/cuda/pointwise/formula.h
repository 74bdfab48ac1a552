// Facts about each elementwise kernel beside its launcher, for kernels that are
// made of several at run time.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cuda {

/// A formula of common/pointwise/formulas.h.
struct FormulaInfo {
  const char* name;  // "Add"
  int inputs;
  /// Tells whether there is code for a dtype of the first input.
  bool (*has)(DType dtype);
  /// Puts the formula object of a call into 64 bytes.
  void (*object)(const KernelCall& call, std::byte* to);
};

/// Null for kernels that are none.
const FormulaInfo* formula_of(const Kernel& kernel);
void set_formula(const Kernel& kernel, const FormulaInfo& info);

template <template <class> class F, class Types>
bool formula_has(DType dtype) {
  return visit_if_listed(Types{}, dtype, []<class>() {});
}
template <template <class> class F, class Types>
void formula_object(const KernelCall& call, std::byte* to) {
  visit_if_listed(Types{}, call.tensor(1).dtype(), [&]<class T>() {
    using Formula = F<OpMath<T>>;
    if constexpr (std::is_constructible_v<Formula, const PointwiseNumbers&>) {
      const Formula made(call.attributes<PointwiseNumbers>());
      static_assert(sizeof(made) <= 64 || std::is_empty_v<Formula>);
      if constexpr (!std::is_empty_v<Formula>)
        std::memcpy(to, &made, sizeof(made));
    }
  });
}

struct FormulaRegistration {
  FormulaRegistration(std::string_view kernel_name, const FormulaInfo& info) {
    set_formula(kernel(kernel_name), info);
  }
};

}  // namespace hotaru::cuda
