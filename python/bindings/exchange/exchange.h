// Bindings of hotaru/exchange.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_exchange(nanobind::module_& m);
void init_onnx_export(nanobind::module_& m);

}  // namespace hotaru::python
