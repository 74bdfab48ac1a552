// What is known of each reduction beside its launcher, for kernels that are
// made of several calls at run time.
#pragma once

#include <cstddef>
#include <string_view>

#include "hotaru/runtime/kernel.h"

namespace hotaru::cuda {

/// A formula of common/reduce/formulas.h.
struct ReduceFormula {
  std::string_view name;  // "Sum"
  /// Puts the call's attributes into 64 bytes.
  void (*attributes)(const KernelCall& call, std::byte* to) = nullptr;
};

/// Without a name for calls that are no reduction of that list.
ReduceFormula reduce_formula(const KernelCall& call);

}  // namespace hotaru::cuda
