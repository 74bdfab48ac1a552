// The files that hotaru writes (hotaru/io/new_file.h) for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_new_file(nanobind::module_& m);

}  // namespace hotaru::python
