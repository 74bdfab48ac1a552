#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

/// Statistics of the CPU's memory.
void init_memory(nanobind::module_& m);

}  // namespace hotaru::python
