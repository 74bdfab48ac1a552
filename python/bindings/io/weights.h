// Files of weights (hotaru/io/weights) for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_weights(nanobind::module_& m);

}  // namespace hotaru::python
