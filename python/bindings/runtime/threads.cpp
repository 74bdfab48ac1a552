// Thread counts and facts about the machine and the build.
#include "bindings/runtime/threads.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/gil.h"
#include "bindings/graph/around_calls.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/checks.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/build_info.h"
#include "hotaru/runtime/threads/admission.h"
#include "hotaru/runtime/threads/cpu_count.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/parallel_backend.h"

namespace hotaru::python {
namespace {

/// A thread count as PyTorch takes it, with its errors.
int thread_count(nb::handle given, const char* setter) {
  nb::object count = nb::borrow(given);
  if (is_numpy_number(given.ptr()) && PyIndex_Check(given.ptr()))
    count = nb::steal(PyNumber_Index(given.ptr()));
  HOTARU_CHECK(PyLong_Check(count.ptr()) && !PyBool_Check(count.ptr()), setter,
               " expects an int, but got ", class_name(count.ptr()));
  const long long n = to_long_long(count.ptr());
  HOTARU_CHECK_AS(ValueError, n >= INT_MIN && n <= INT_MAX,
                  "Overflow when unpacking long");
  HOTARU_CHECK(n > 0, setter, " expects a positive integer");
  return int(n);
}

/// Says once, when the package is imported, which variables do not count.
void warn_of_environment() {
  for (const std::string& warning : thread_environment_warnings())
    if (PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 1) != 0)
      throw nb::python_error();
}

}  // namespace

void init_threads(nb::module_& m) {
  parallel_backend();  // a wrong HOTARU_THREADING is an error of the import
  warn_of_environment();
  m.def("get_num_threads", &get_num_threads,
        "Threads that one operator may use, the caller included.");
  m.def(
      "set_num_threads",
      [](nb::handle count) {
        set_num_threads(thread_count(count, "set_num_threads"));
        count_setting_change();
      },
      nb::arg("num").none(),
      "Sets the threads that one operator may use, at any time, for the whole "
      "process.");
  m.def("get_num_interop_threads", &get_num_interop_threads,
        "Forks and stream tasks that may run at a time on the pool.");
  m.def(
      "set_num_interop_threads",
      [](nb::handle count, bool force) {
        set_num_interop_threads(thread_count(count, "set_num_interop_threads"),
                                force);
      },
      nb::arg("num").none(), nb::kw_only(), nb::arg("force") = false,
      "Sets the forks and stream tasks that may run at a time: once, and "
      "before "
      "the first of them, or RuntimeError. force=True changes it at any time.");
  m.def("_ordered_calls", [] { return Admission::instance().ordered(); });
  m.def("_set_ordered_calls", [](bool ordered) {
    const GilRelease release;
    Admission::instance().set_ordered(ordered);
  });
  m.def("_parallel_info", &parallel_info);
  m.def("_compiler_name", &compiler_name);
  m.def("_simd_target_name", &simd_target_name);
  m.def("_simd_is_built_alone", &simd_is_built_alone);
  m.def("_build_settings", &build_settings);
}

}  // namespace hotaru::python
