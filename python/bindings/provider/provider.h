// Bindings of hotaru/provider.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_provider(nanobind::module_& m);

}  // namespace hotaru::python
