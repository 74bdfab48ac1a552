#include "bindings/runtime/determinism.h"

#include "bindings/errors.h"
#include "bindings/graph/around_calls.h"
#include "bindings/stable_abi.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/determinism.h"

namespace hotaru::python {
namespace {

/// A bool, or PyTorch's error.
bool flag(nb::handle value, const char* complaint) {
  HOTARU_CHECK(PyBool_Check(value.ptr()), complaint, ", but got ",
               class_name(value.ptr()));
  return value.ptr() == Py_True;
}

}  // namespace

void init_determinism(nb::module_& m) {
  m.def("_get_determinism", [] {
    const Determinism now = determinism();
    return nb::make_tuple(now.required, now.warn_only);
  });
  m.def("_set_determinism", [](bool required, bool warn_only) {
    set_determinism({required, warn_only, determinism().fills});
    count_setting_change();
  });
  m.def("_get_deterministic_fill_uninitialized_memory",
        [] { return determinism().fills; });
  m.def("_set_deterministic_fill_uninitialized_memory", [](nb::handle fills) {
    Determinism wanted = determinism();
    wanted.fills = flag(fills, "expected a bool");
    set_determinism(wanted);
    count_setting_change();
  });
  m.def("is_warn_always_enabled", &warns_always,
        "Whether warnings that are given once are given every time.");
  m.def(
      "set_warn_always",
      [](nb::handle always) {
        set_warns_always(flag(always, "setWarnOnlyOnce expects a bool"));
        count_setting_change();
      },
      nb::arg("b").none(),
      "Whether warnings that are given once are given every time, for the "
      "whole process. RuntimeError for anything but a bool.");
}

}  // namespace hotaru::python
