// C++ side of quantisation in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_quantization(nanobind::module_& m);

}  // namespace hotaru::python
