// Reductions of rows, taken apart as elementwise.h does it with loops: what a
// reduction makes of one row, for whoever has the row at hand.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>

#include "hotaru/runtime/kernel.h"

namespace hotaru {

/// Gives what the kernel gives for a row of n elements side by side, to the
/// bit, as long as the row is no longer than kMaxRow.
struct RowReduction {
  static constexpr int64_t kMaxRow = 2048;
  using Function = void (*)(const void* context, const char* row, int64_t n,
                            char* out);

  RowReduction() = default;
  template <class F>
  RowReduction(Function function, const F& finish) : run(function) {
    static_assert(sizeof(F) <= sizeof(context) && alignof(F) <= 16);
    static_assert(std::is_trivially_copyable_v<F>);
    std::memcpy(context, &finish, sizeof(F));
  }

  Function run = nullptr;
  alignas(16) std::byte context[32];
};

/// Looks at no operand's memory. Throws as the kernel does if there is no code
/// for an operand's dtype.
using RowReductionFunction = void (*)(const KernelCall& call,
                                      RowReduction& result);
/// The CPU's for that kernel; null if there is none. The kernel's operands are
/// the result and the input. Kernels set theirs while their library is loaded.
RowReductionFunction row_reduction_function(const Kernel& kernel);
void set_row_reduction(const Kernel& kernel, RowReductionFunction f);

/// Elements of a row, if `out` is of rows of the row-major `in`: its last
/// dimensions are 1. Else 0.
int64_t row_of(const Tensor& out, const Tensor& in);

}  // namespace hotaru
