#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_shared_memory(nanobind::module_& m);

}  // namespace hotaru::python
