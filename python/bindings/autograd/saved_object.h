// Saved tensors from Python: their names, their hooks.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "bindings/autograd/node_object.h"

namespace hotaru::python {

/// node._saved_x and node._raw_saved_x: the value of a saved tensor by its
/// name in the operator's schema, and the saved tensor itself. AttributeError
/// for any other attribute.
nanobind::object saved_attribute(const PyNode& node, const std::string& name);

/// Returns what a function written in Python saved, as values and as they are.
nanobind::tuple saved_values(const PyFunctionNode& node);
nanobind::tuple saved_objects(const PyFunctionNode& node);

/// Gives this thread's `saved_tensors_hooks` back at its end as they were.
class KeepDefaultHooks {
 public:
  KeepDefaultHooks();
  ~KeepDefaultHooks();
  KeepDefaultHooks(const KeepDefaultHooks&) = delete;
  KeepDefaultHooks& operator=(const KeepDefaultHooks&) = delete;

 private:
  std::shared_ptr<void> innermost_;
};

void init_saved(nanobind::module_& m);

}  // namespace hotaru::python
