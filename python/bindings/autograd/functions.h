// Functions that only change what the backward pass does: torch._C._functions.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

/// The submodule `_functions`: classes of nodes by their names, and
/// DelayedError and UndefinedGrad.
void init_functions(nanobind::module_& m);

}  // namespace hotaru::python
