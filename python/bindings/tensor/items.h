// Reading Python's containers while Python code may run.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/stable_abi.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::python {

namespace nb = nanobind;

/// f(element, position) for each of a list or tuple until it returns false;
/// whether it never did. What f calls (an element's __index__) may change the
/// list: each element is held meanwhile, another length is an error.
template <class F>
bool for_items(PyObject* sequence, const F& f) {
  const Py_ssize_t n = sequence_size(sequence);
  for (Py_ssize_t i = 0; i < n; ++i) {
    HOTARU_CHECK(sequence_size(sequence) == n,
                 "a list changed its length while it was read");
    const nb::object item = nb::borrow(sequence_item(sequence, i));
    if (!f(item.ptr(), i)) return false;
  }
  return true;
}

/// One level of containers inside each other, for as long as it lives. Throws
/// RecursionError where they are nested deeper than any on purpose: they hold
/// themselves, or what walks them later would overflow the stack.
class Level {
 public:
  static constexpr int kMax = 500;

  explicit Level(const char* what) {
    if (depth() >= kMax) {
      PyErr_Format(PyExc_RecursionError,
                   "%s: containers are nested deeper than %d levels", what,
                   kMax);
      throw nb::python_error();
    }
    ++depth();
  }
  ~Level() { --depth(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
};

}  // namespace hotaru::python
