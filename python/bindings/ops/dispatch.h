// The protocol __torch_dispatch__: subclasses of Tensor, and modes, that answer
// operators below autograd. Looked at where __torch_function__ is, and behind
// it; Python (hotaru._dispatch) records the history of what they answer.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/ops/op_bind.h"

namespace hotaru::python::dispatch {

/// True if objects of the type, a subclass of Tensor, answer operators.
bool answers(PyTypeObject* type);
/// True if this thread has a mode, or an argument is of a class that answers.
bool applies(const Call& call);
/// How many modes there are in all threads.
int modes();

/// Asks hotaru._dispatch for the answer to func(*args, **keywords).
nanobind::object ask(nanobind::handle func, const nanobind::tuple& args,
                     const nanobind::object& keywords);

void init_dispatch(nanobind::module_& m);

}  // namespace hotaru::python::dispatch
