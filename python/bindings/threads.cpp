// Thread counts and facts about the machine.
#include "bindings/threads.h"

#include <nanobind/stl/string.h>

#include "bindings/value_convert.h"
#include "hotaru/runtime/parallel.h"

namespace hotaru::python {

void init_threads(nb::module_& m) {
  m.def("get_num_threads", &get_num_threads);
  m.def("set_num_threads", [](nb::handle count) {
    HOTARU_CHECK_AS(TypeError,
                    PyLong_Check(count.ptr()) && !PyBool_Check(count.ptr()),
                    "set_num_threads expects an int, but got ",
                    Py_TYPE(count.ptr())->tp_name);
    const int64_t n = to_int(count.ptr());
    HOTARU_CHECK(n > 0 && n < (1 << 20),
                 "set_num_threads expects a positive integer");
    set_num_threads(int(n));
  });
  m.def("_parallel_info", &parallel_info);
}

}  // namespace hotaru::python
