#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

namespace nb = nanobind;

/// use_deterministic_algorithms() and set_warn_always().
void init_determinism(nb::module_& m);

}  // namespace hotaru::python
