// Programs of torch.export.save in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace hotaru::python {

void init_exported_program(nb::module_& m);

}  // namespace hotaru::python
