// Stores that processes meet through (hotaru/comm) for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_stores(nanobind::module_& m);

}  // namespace hotaru::python
