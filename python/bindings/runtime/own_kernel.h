// Kernels that programs bring as source text: hotaru.cuda.compile_kernel.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_own_kernel(nanobind::module_& m);

}  // namespace hotaru::python
