// Process groups (hotaru/comm) for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_process_group(nanobind::module_& m);

}  // namespace hotaru::python
