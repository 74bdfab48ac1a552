// Programs of other formats as modules.
#include "bindings/exchange/exchange.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bytes.h"
#include "bindings/gil.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/onnx/load_onnx.h"

namespace nb = nanobind;

namespace hotaru::python {

void init_exchange(nb::module_& m) {
  m.def(
      "_onnx_load",
      [](const std::string& path) { return exchange::load_onnx(path); },
      nb::call_guard<GilRelease>());
  m.def("_onnx_load_bytes", [](const nb::bytes& data, const std::string& name) {
    std::vector<std::byte> bytes = to_bytes(data);
    const GilRelease release;
    return exchange::load_onnx(std::move(bytes), name);
  });
  m.def(
      "_load_program",
      [](const std::string& path) { return exchange::load_program(path); },
      nb::call_guard<GilRelease>());
  m.def("_load_program_bytes",
        [](const nb::bytes& data, const std::string& name) {
          std::vector<std::byte> bytes = to_bytes(data);
          const GilRelease release;
          return exchange::load_program(std::move(bytes), name);
        });
  m.def("_onnx_operators", &exchange::onnx_operators);
}

}  // namespace hotaru::python
