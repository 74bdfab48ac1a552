#include "bindings/errors.h"

#include <nanobind/stl/string_view.h>

#include <cstring>
#include <string>

#include "bindings/gil.h"
#include "hotaru/backend/common/linalg/linalg.h"
#include "hotaru/comm/dist_error.h"
#include "hotaru/core/error.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

/// linalg.LinAlgError, a RuntimeError; lives as long as the process.
PyObject* linalg_error = nullptr;
/// torch.OutOfMemoryError and torch.AcceleratorError, likewise.
PyObject* out_of_memory_error = nullptr;
PyObject* accelerator_error = nullptr;
/// distributed.DistError and what is below it, likewise.
PyObject* dist_error = nullptr;
PyObject* dist_network_error = nullptr;
PyObject* dist_store_error = nullptr;
PyObject* queue_empty_error = nullptr;
PyObject* dist_backend_error = nullptr;

PyObject* exception_class(const std::exception& e) {
  if (dynamic_cast<const IndexError*>(&e)) return PyExc_IndexError;
  if (dynamic_cast<const TypeError*>(&e)) return PyExc_TypeError;
  if (dynamic_cast<const ValueError*>(&e)) return PyExc_ValueError;
  if (dynamic_cast<const AssertionError*>(&e)) return PyExc_AssertionError;
  if (dynamic_cast<const LinAlgError*>(&e)) return linalg_error;
  if (dynamic_cast<const OutOfMemoryError*>(&e)) return out_of_memory_error;
  if (dynamic_cast<const comm::DistNetworkError*>(&e))
    return dist_network_error;
  if (dynamic_cast<const comm::QueueEmptyError*>(&e)) return queue_empty_error;
  if (dynamic_cast<const comm::DistStoreError*>(&e)) return dist_store_error;
  if (dynamic_cast<const comm::DistBackendError*>(&e))
    return dist_backend_error;
  if (dynamic_cast<const comm::DistError*>(&e)) return dist_error;
  if (dynamic_cast<const NotImplementedError*>(&e))
    return PyExc_NotImplementedError;
  return PyExc_RuntimeError;
}

void set_error(const std::exception& e) {
  const auto* failed = dynamic_cast<const AcceleratorError*>(&e);
  if (!failed) return PyErr_SetString(exception_class(e), e.what());
  nanobind::object error = nanobind::handle(accelerator_error)(e.what());
  error.attr("error_code") = failed->code();
  PyErr_SetObject(accelerator_error, error.ptr());
}

PyObject* runtime_error_class(nanobind::module_& m, const char* name,
                              const char* doc,
                              PyObject* base = PyExc_RuntimeError) {
  PyObject* made = PyErr_NewExceptionWithDoc(name, doc, base, nullptr);
  if (!made) throw nanobind::python_error();
  m.attr(std::strrchr(name, '.') + 1) = nanobind::handle(made);
  return made;
}

/// The stack level of the line that called: behind those functions that are
/// written in Python here and are compiled in PyTorch, if it was one of them.
int frames_within() {
  int level = 1;
  nanobind::object frame =
      nanobind::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none()) {
    const nanobind::object module =
        frame.attr("f_globals").attr("get")("__name__", nanobind::str(""));
    if (!nanobind::isinstance<nanobind::str>(module) ||
        !std::string_view(nanobind::str(module).c_str())
             .starts_with("hotaru._"))
      break;
    frame = frame.attr("f_back");
    ++level;
  }
  return frame.is_valid() && !frame.is_none() ? level : 1;
}

}  // namespace

void set_python_error() {
  try {
    throw;
  } catch (nanobind::python_error& e) {
    e.restore();
  } catch (const nanobind::builtin_exception& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    set_error(e);
  }
}

void throw_named(const Error& e, std::string_view name) {
  constexpr std::string_view kRefusal =
      "operation not permitted when stream is capturing: ";
  const std::string_view text = e.what();
  if (typeid(e) != typeid(Error) || !text.starts_with(kRefusal)) throw;
  const std::string_view reason = text.substr(kRefusal.size());
  // Named already by an operator within.
  const size_t end = reason.find("(): ");
  if (end < reason.find(' ')) throw;
  fail(kRefusal, name, "(): ", reason);
}

void init_errors(nanobind::module_& m) {
  linalg_error = runtime_error_class(
      m, "hotaru._C._LinAlgError",
      "A matrix that is singular or not positive-definite.");
  out_of_memory_error = runtime_error_class(m, "torch.OutOfMemoryError",
                                            "A device has no memory left.");
  accelerator_error = runtime_error_class(
      m, "torch.AcceleratorError",
      "A device or its driver failed; `error_code` is the driver's number.");
  dist_error =
      runtime_error_class(m, "hotaru.distributed.DistError",
                          "Something went wrong among several processes.");
  dist_network_error = runtime_error_class(
      m, "hotaru.distributed.DistNetworkError",
      "Another process cannot be reached, or went away.", dist_error);
  dist_store_error = runtime_error_class(
      m, "hotaru.distributed.DistStoreError",
      "A store did not answer as it was asked to, or in time.", dist_error);
  queue_empty_error = runtime_error_class(
      m, "hotaru.distributed.QueueEmptyError",
      "A store's queue had nothing to take.", dist_store_error);
  dist_backend_error = runtime_error_class(
      m, "hotaru.distributed.DistBackendError",
      "An operation of several processes failed; its text says whose fault.",
      dist_error);
  set_warning_handler([](std::string_view text) {
    const GilAcquire gil;
    nanobind::module_::import_("warnings")
        .attr("warn")(text, nanobind::arg("stacklevel") = frames_within());
  });
  nanobind::register_exception_translator(
      [](const std::exception_ptr& p, void*) {
        try {
          std::rethrow_exception(p);
        } catch (const Error& e) {
          set_error(e);
        }
      });
}

}  // namespace hotaru::python
