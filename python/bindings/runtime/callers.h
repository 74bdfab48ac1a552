// Python threads that call modules, in order of arrival where there are more of
// them than cores (runtime/threads/admission.h).
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

/// The calling thread is about to compute for long; holds the lock.
void note_caller();

/// Defines what `nn.Module` asks.
void init_callers(nanobind::module_& m);

}  // namespace hotaru::python
