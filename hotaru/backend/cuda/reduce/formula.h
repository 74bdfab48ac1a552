// Facts about each reduction beside its launcher, for kernels that are made of
// several calls at run time.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/reduce.h"

namespace hotaru::cuda {

/// A formula of common/reduce/formulas.h.
struct ReduceFormula {
  std::string_view name;  // "Sum"
  /// Puts the call's attributes into 64 bytes.
  void (*attributes)(const KernelCall& call, std::byte* to) = nullptr;
};

/// Without a name for calls that are no reduction of that list.
ReduceFormula reduce_formula(const KernelCall& call);

/// The first kernel of a reduction, instead of which another one may run: from
/// p to what the second one expects.
using FirstReduce = std::function<void(const ReduceParams& p, Grid grid)>;
/// Runs a call that has a formula.
void reduce_with(const KernelCall& call, const FirstReduce& first);

}  // namespace hotaru::cuda
