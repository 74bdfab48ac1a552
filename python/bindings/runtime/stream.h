// hotaru.Stream, hotaru.Event and what the profiler module needs.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

void init_stream(nanobind::module_& m);

}  // namespace hotaru::python
