#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_threads(nanobind::module_& m);

}  // namespace hotaru::python
