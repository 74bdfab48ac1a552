#include "bindings/runtime/future_object.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/autograd/held.h"
#include "bindings/gil.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/future.h"

namespace hotaru::python {
namespace {

/// Future as Python sees it. Every wait, and everything that may run callbacks,
/// gives up the interpreter's lock; callbacks take it.
struct PyFuture {
  Ref<Future> future = make_ref<Future>();
};

/// Any Python object as a value: what Python puts in comes out, itself.
struct PyValue final : RefCounted {
  explicit PyValue(nb::object object) : held(std::move(object)) {}
  const Held held;
};

Value hold(nb::object object) {
  return Value::from_object(make_ref<PyValue>(std::move(object)));
}

const nb::object* held_by(const Value& value) {
  const auto* object =
      value.is_object() ? dynamic_cast<PyValue*>(value.as_object()) : nullptr;
  return object ? &object->held.get() : nullptr;
}

/// A Python exception in a future; raised as often as somebody asks.
class PyFutureError final : public std::exception {
 public:
  explicit PyFutureError(nb::object exception)
      : text_(nb::cast<std::string>(exception.type().attr("__name__")) + ": " +
              nb::str(exception).c_str()),
        exception_(make_ref<PyValue>(std::move(exception))) {}

  const char* what() const noexcept override { return text_.c_str(); }
  void raise() const {
    const nb::object& object = exception_->held.get();
    PyErr_SetObject(object.type().ptr(), object.ptr());
  }

 private:
  std::string text_;
  Ref<PyValue> exception_;
};

/// PyTorch's error for a callback that raised; the exception is its cause.
PyFutureError callback_error(const nb::python_error& e) {
  const nb::object cause = nb::borrow(e.value());
  const PyFutureError inner(cause);
  nb::object error = nb::handle(PyExc_RuntimeError)(concat(
      "Got the following error when running the callback: ", inner.what()));
  PyException_SetCause(error.ptr(), nb::object(cause).release().ptr());
  return PyFutureError(std::move(error));
}

Value call_back(const nb::object& callback, Future& future) {
  const nb::object self = nb::cast(PyFuture{Ref<Future>(&future)});
  return hold(callback(self));
}

void expect_callable(nb::handle callback, const char* method) {
  HOTARU_CHECK_AS(TypeError, PyCallable_Check(callback.ptr()), method,
                  "(): the callback must be callable, not '",
                  class_name(callback.ptr()), "'");
}

PyFuture make_future(nb::handle devices) {
  if (!devices.is_none()) {
    for (nb::handle device : devices) {
      const Device parsed = to_device(device.ptr());
      HOTARU_CHECK_AS(ValueError, parsed.index >= 0,
                      "Expected devices to have indices, got ", parsed.str());
    }
  }
  return {};
}

nb::object wait(const PyFuture& self) {
  if (!self.future->done()) {
    const GilRelease release;
    try {
      self.future->wait();
    } catch (...) {  // below, with the interpreter's lock
    }
  }
  return nb::steal(to_python(self.future->value()));
}

PyFuture then(const PyFuture& self, nb::object callback) {
  expect_callable(callback, "then");
  auto held = make_ref<PyValue>(std::move(callback));
  const GilRelease release;
  return {self.future->then([held](Future& future) {
    const GilAcquire gil;
    try {
      return call_back(held->held.get(), future);
    } catch (const nb::python_error& e) {
      throw callback_error(e);
    }
  })};
}

void add_done_callback(const PyFuture& self, nb::object callback) {
  expect_callable(callback, "add_done_callback");
  auto held = make_ref<PyValue>(std::move(callback));
  const GilRelease release;
  self.future->on_done([held](Future& future) {
    const GilAcquire gil;
    try {
      call_back(held->held.get(), future);
    } catch (nb::python_error& e) {
      e.discard_as_unraisable(held->held.get());
    }
  });
}

void set_result(const PyFuture& self, nb::object result) {
  Value value = hold(std::move(result));
  const GilRelease release;
  self.future->set_value(std::move(value));
}

void set_exception(const PyFuture& self, nb::object exception) {
  HOTARU_CHECK_AS(AssertionError,
                  PyObject_IsInstance(exception.ptr(), PyExc_Exception) == 1,
                  nb::str(exception).c_str(), " is of type ",
                  nb::str(exception.type()).c_str(), ", not an Exception.");
  auto error = std::make_exception_ptr(PyFutureError(std::move(exception)));
  const GilRelease release;
  self.future->set_error(std::move(error));
}

PyFuture collect(const std::vector<PyFuture>& futures) {
  std::vector<Ref<Future>> refs;
  for (const PyFuture& future : futures) refs.push_back(future.future);
  const GilRelease release;
  return {collect_all(std::move(refs))};
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const PyFutureError& e) {
      e.raise();
    }
  });
}

}  // namespace

bool future_to_value(PyObject* object, Value* out) {
  if (!nb::isinstance<PyFuture>(object)) return false;
  const Ref<Future>& future = nb::inst_ptr<PyFuture>(object)->future;
  if (future->done() && (future->error() || !held_by(future->value()))) {
    *out = Value::from_object(future);
    return true;
  }
  const GilRelease release;
  *out = Value::from_object(future->then([](Future& done) {
    const nb::object* object = held_by(done.value());
    if (!object) return done.value();
    const GilAcquire gil;
    return to_value(object->ptr());
  }));
  return true;
}

PyObject* future_to_python(const Value& value) {
  if (const nb::object* object = held_by(value))
    return nb::object(*object).release().ptr();
  auto* future = dynamic_cast<Future*>(value.as_object());
  if (!future) return nullptr;
  return nb::cast(PyFuture{Ref<Future>(future)}).release().ptr();
}

PendingFuture pending_future(nb::object result) {
  PyFuture made;
  return {
      nb::cast(made), [future = made.future, value = hold(std::move(result))](
                          std::exception_ptr error) {
        error ? future->set_error(std::move(error)) : future->set_value(value);
      }};
}

void init_futures(nb::module_& m) {
  translate_errors();
  nb::class_<PyFuture>(m, "Future",
                       "A value that is there later: the result of a fork, or "
                       "what set_result() gives. Thread-safe.")
      .def(
          "__init__",
          [](PyFuture* self, nb::handle devices) {
            new (self) PyFuture(make_future(devices));
          },
          nb::kw_only(), nb::arg("devices") = nb::none())
      .def_static(
          "__class_getitem__",
          [](nb::handle item) {
            return nb::steal(
                Py_GenericAlias(nb::type<PyFuture>().ptr(), item.ptr()));
          },
          nb::arg("item").none())
      .def(
          "done", [](const PyFuture& self) { return self.future->done(); },
          "Whether there is a value or an exception.")
      .def("wait", &wait,
           "Blocks until the future is complete, running queued work "
           "meanwhile; returns the value or raises the exception.")
      .def(
          "value",
          [](const PyFuture& self) {
            return nb::steal(to_python(self.future->value()));
          },
          "The value, or raises the exception. RuntimeError unless done().")
      .def("then", &then, nb::arg("callback"),
           "A future for callback(self), which runs in the thread that "
           "completes this one, or at once if it is done. What the callback "
           "raises is the cause of the new future's RuntimeError.")
      .def("add_done_callback", &add_done_callback, nb::arg("callback"),
           "Runs callback(self) as then() does; what it raises goes to "
           "sys.unraisablehook.")
      .def("set_result", &set_result, nb::arg("result").none(),
           "Completes the future. RuntimeError if it is complete.")
      .def("set_exception", &set_exception, nb::arg("result"),
           "Completes the future with an Exception, which wait() and value() "
           "raise. RuntimeError if it is complete.");
  m.def("_collect_all", &collect, nb::arg("futures"));
}

}  // namespace hotaru::python
