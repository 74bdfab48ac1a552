#include "bindings/io/new_file.h"

#include <cstring>
#include <string>

#include "bindings/gil.h"
#include "hotaru/io/new_file.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

/// Runs f without the interpreter's lock, since a pipe waits for its reader;
/// what it can't do is the OSError that Python's own open() would raise.
template <class F>
auto as_os_error(const std::string& path, F&& f) {
  try {
    const GilRelease release;
    return f();
  } catch (const io::FileError& error) {
    const nb::object name = nb::steal(
        PyUnicode_DecodeFSDefaultAndSize(path.data(), Py_ssize_t(path.size())));
    const nb::object arguments =
        nb::make_tuple(error.code(), std::strerror(error.code()), name);
    PyErr_SetObject(PyExc_OSError, arguments.ptr());
    throw nb::python_error();
  }
}

struct PyNewFile {
  std::string path;
  io::NewFile file;
};

}  // namespace

void init_new_file(nb::module_& m) {
  nb::class_<PyNewFile>(m, "_NewFile", "A file that is written whole.")
      .def("__init__",
           [](PyNewFile* self, const nb::bytes& path) {
             const std::string name(path.c_str(), path.size());
             as_os_error(name, [&] {
               new (self) PyNewFile{name, io::NewFile(name)};
             });
           })
      .def("descriptor", [](PyNewFile& self) { return self.file.descriptor(); })
      .def("finish",
           [](PyNewFile& self) {
             as_os_error(self.path, [&] { self.file.finish(); });
           })
      .def("abandon", [](PyNewFile& self) { self.file.abandon(); });
}

}  // namespace hotaru::python
