#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

namespace nb = nanobind;

/// Which kinds of attention are allowed (nn.attention.sdpa_kernel).
void init_attention_kinds(nb::module_& m);

}  // namespace hotaru::python
