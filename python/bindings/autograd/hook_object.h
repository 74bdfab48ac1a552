// Hooks on tensors and nodes that are Python functions.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/autograd/node_object.h"
#include "hotaru/autograd/hooks.h"

namespace hotaru::python {

/// Handle that register_hook() gives: takes the hook away again. It keeps
/// neither the hook nor what has it alive.
struct HookHandle {
  autograd::RemoveHook remove;
};

HookHandle register_node_hook(PyNode& self, nanobind::object function);
HookHandle register_node_prehook(PyNode& self, nanobind::object function);

void init_hooks(nanobind::module_& m);

}  // namespace hotaru::python
