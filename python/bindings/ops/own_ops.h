// Operators that programs define in C++ (hotaru/ops/own), for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_own_ops(nanobind::module_& m);

}  // namespace hotaru::python
