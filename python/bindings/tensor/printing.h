#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_printing(nanobind::module_& m);

}  // namespace hotaru::python
