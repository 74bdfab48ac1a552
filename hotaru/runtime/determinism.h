// Requests of a program by torch.use_deterministic_algorithms(): process-wide,
// thread-safe.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

struct Determinism {
  bool required = false;
  /// Operators that have no deterministic form warn and run.
  bool warn_only = false;
  /// Beside `required`: memory that a program gets uninitialised is filled.
  bool fills = true;
};

Determinism determinism();
void set_determinism(Determinism wanted);

/// Warnings that are given once, every time instead (torch.set_warn_always).
bool warns_always();
void set_warns_always(bool always);

/// For an operator that PyTorch has no deterministic form of, before it runs:
/// throws or warns in PyTorch's words if one is required.
void require_deterministic(const char* op);
/// The same where only CUDA's kernel, which t is for, adds up in any order.
inline void require_deterministic_cuda(const char* op, const Tensor& t) {
  if (t.device().is_cuda()) require_deterministic(op);
}

/// True if new memory is to be filled; one load.
bool fills_memory();
/// Value that uninitialised elements get then: NaN, the largest integer, true.
Scalar filling(DType dtype);

}  // namespace hotaru
