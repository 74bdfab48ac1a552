// The operands of kernels of dense linear algebra, matrix by matrix.
#pragma once

#include <string>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/linalg/linalg.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// "(Batch element 3): " in messages about one of several matrices.
inline std::string where(int64_t i, bool batched) {
  return batched ? concat("(Batch element ", i, "): ") : std::string();
}

/// The i-th [rows, columns] matrix of an operand.
template <class T>
T* matrix(const Tensor& t, int64_t i, int64_t rows, int64_t columns = 1) {
  return t.data<T>() + i * rows * columns;
}

/// LinAlgError for matrix i, whose diagonal has a zero at `order`, from 1.
[[noreturn]] inline void refuse_inverse(const LinalgAttributes& s, int64_t i,
                                        int64_t order) {
  fail<LinAlgError>(s.name, ": ", where(i, s.batched), "The diagonal element ",
                    order,
                    " is zero, the inversion could not be completed because "
                    "the input matrix is singular.");
}

/// An `info` is an operand, but nobody may have asked for it.
inline void set_info(const Tensor& info, int64_t i, int64_t value) {
  if (info.defined()) info.data<int32_t>()[i] = int32_t(value);
}

}  // namespace hotaru::cpu
