// Anomaly mode from Python: where the forward pass was when a node was made.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/autograd/node_object.h"

namespace hotaru::python {

/// node.metadata: a dictionary of the node's own.
nanobind::dict metadata_of(const PyNode& node);

void init_notes(nanobind::module_& m);

}  // namespace hotaru::python
