// The functions that extensions in C++ call (hotaru/exchange/python_api.h).
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_cpp_api(nanobind::module_& m);

}  // namespace hotaru::python
