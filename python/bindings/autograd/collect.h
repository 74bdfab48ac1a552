// Answers to Python's cyclic collector about objects that C++ shares.
//
// The collector counts references between Python objects; owners in C++ it
// cannot see. So an object tells it what C++ objects own as long as it is their
// only owner: all others then count as references from outside, which keep
// everything alive.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/autograd/node.h"

namespace hotaru::python {

/// Visits what a tensor that one Python object alone owns refers to: hooks,
/// and those of the node that made it.
int visit_tensor(const Tensor& t, visitproc visit, void* arg);
/// Lets go of all that visit_tensor() told.
void clear_tensor(const Tensor& t);

/// The same for the owner of a node.
int visit_node(const Ref<autograd::Node>& node, visitproc visit, void* arg);
void clear_node(const Ref<autograd::Node>& node);

/// Lets the collector know of an object, which is not told before it may be
/// part of a cycle.
inline void track(PyObject* object) {
  if (!PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);
}
/// The same for the Python object of a tensor, if there is one.
inline void track(const Tensor& t) {
  if (void* object = t.impl()->python_object)
    track(static_cast<PyObject*>(object));
}

}  // namespace hotaru::python
