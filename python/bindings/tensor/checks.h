// Checks by which the ways to make tensors refuse alike.
#pragma once

#include <Python.h>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/dtype.h"

namespace hotaru::python {

/// Throws if elements of the dtype are to have a gradient and can't.
inline void check_gradient(bool wanted, DType dtype) {
  HOTARU_CHECK(!wanted || is_differentiable(dtype),
               "Only Tensors of floating point and complex dtype can require "
               "gradients");
}

/// A Python int; ValueError for one beyond 64 bits.
inline long long to_long_long(PyObject* number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  HOTARU_CHECK_AS(ValueError, overflow == 0,
                  "Overflow when unpacking long long");
  return value;
}

}  // namespace hotaru::python
