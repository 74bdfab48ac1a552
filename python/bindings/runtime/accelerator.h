// What hotaru.cuda is made of.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_accelerator(nanobind::module_& m);

}  // namespace hotaru::python
