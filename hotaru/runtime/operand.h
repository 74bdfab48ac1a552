// Objects that operands stand for, as those ask who order calls: apart from
// runtime/kernel.h, which knows no more of tensors than that there are some.
#pragma once

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {

/// Returns what streams have to keep in order: the tensor's storage, or the
/// object; null for an undefined tensor.
inline const Ordered* ordered_of(const Operand& operand) {
  if (operand.object) return operand.object;
  return operand.tensor->defined() ? operand.tensor->storage().get() : nullptr;
}

/// A tensor in the host's memory.
inline bool on_cpu(const Operand& operand) {
  return operand.tensor && operand.tensor->defined() &&
         operand.tensor->device().is_cpu();
}

}  // namespace hotaru
