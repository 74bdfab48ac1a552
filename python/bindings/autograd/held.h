// Python objects that C++ owns, released from whatever thread lets go last.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/gil.h"

namespace hotaru::python {

/// Runs f with the interpreter's lock; not at all once the interpreter has
/// ended, when the process is about to give back everything anyway.
template <class F>
void with_interpreter(F&& f) {
  if (!Py_IsInitialized()) return;
  const GilAcquire gil;
  f();
}

/// A reference that may be dropped without the interpreter's lock.
class Held {
 public:
  explicit Held(nanobind::object object) : object_(std::move(object)) {}
  ~Held() { clear(); }
  Held(Held&&) = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  const nanobind::object& get() const { return object_; }
  /// With the interpreter's lock.
  void reset(nanobind::object object) { object_ = std::move(object); }
  void clear() {
    PyObject* object = object_.release().ptr();
    with_interpreter([object] { Py_XDECREF(object); });
  }

 private:
  nanobind::object object_;
};

}  // namespace hotaru::python
