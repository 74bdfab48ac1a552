// ONNX models of programs.
#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/exchange/exchange.h"
#include "bindings/gil.h"
#include "bindings/script/script_source.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/exchange/onnx_out/export_onnx.h"
#include "hotaru/exchange/onnx_out/table.h"

namespace nb = nanobind;

namespace hotaru::python {

namespace {

using exchange::OnnxExport;
using exchange::OnnxExportOptions;

std::vector<Value> to_values(const nb::tuple& items) {
  std::vector<Value> out;
  for (nb::handle item : items) out.push_back(to_value(item.ptr()));
  return out;
}

script::KeywordArguments to_keywords(const nb::dict& items) {
  script::KeywordArguments out;
  for (auto [name, value] : items)
    out.emplace_back(nb::cast<std::string>(name), to_value(value.ptr()));
  return out;
}

OnnxExportOptions to_options(
    int64_t opset, std::vector<std::string> inputs,
    std::vector<std::string> outputs,
    std::vector<std::map<int64_t, std::string>> dynamic, bool numbers,
    std::set<std::string> refused) {
  OnnxExportOptions out;
  out.opset = opset;
  out.input_names = std::move(inputs);
  out.output_names = std::move(outputs);
  out.dynamic = std::move(dynamic);
  out.number_inputs = numbers;
  out.refused = std::move(refused);
  return out;
}

io::onnx::WriteOptions to_write(bool external, bool initializers,
                                bool as_inputs) {
  return {.external_data = external,
          .initializers = initializers,
          .as_inputs = as_inputs};
}

void bind_program(nb::module_& m) {
  nb::class_<OnnxExport>(m, "_OnnxExport", "An ONNX model in memory.")
      .def_ro("inputs", &OnnxExport::inputs)
      .def_ro("outputs", &OnnxExport::outputs)
      .def_prop_ro(
          "opset",
          [](const OnnxExport& self) { return self.model.opsets.at(""); })
      .def_prop_ro("initializers",
                   [](const OnnxExport& self) {
                     std::vector<std::string> out;
                     for (const auto& each : self.initializers)
                       out.push_back(each.name);
                     return out;
                   })
      .def_prop_ro("initializer_bytes",
                   [](const OnnxExport& self) {
                     return io::onnx::initializer_bytes(self.initializers);
                   })
      .def_prop_ro("operators",
                   [](const OnnxExport& self) {
                     std::map<std::string, int> out;
                     for (const auto& node : self.model.graph.nodes)
                       ++out[node.op];
                     return out;
                   })
      .def_prop_ro(
          "missing",
          [](const OnnxExport& self) {
            nb::list out;
            for (const auto& [name, missing] : self.missing)
              out.append(nb::make_tuple(name, missing.count, missing.where));
            return out;
          })
      .def("save",
           [](const OnnxExport& self, const std::string& path, bool external,
              bool initializers, bool as_inputs) {
             const GilRelease release;
             io::onnx::write_model(path, self.model, self.initializers,
                                   to_write(external, initializers, as_inputs));
           })
      .def("to_bytes",
           [](const OnnxExport& self, bool initializers, bool as_inputs) {
             std::string out;
             {
               const GilRelease release;
               io::onnx::write_model(
                   [&](std::string_view bytes) { out += bytes; }, self.model,
                   self.initializers, to_write(false, initializers, as_inputs));
             }
             return nb::bytes(out.data(), out.size());
           });
}

}  // namespace

void init_onnx_export(nb::module_& m) {
  bind_program(m);
  m.def("_onnx_export_module",
        [](const script::Module& module, const std::string& method,
           const nb::tuple& args, const nb::dict& kwargs, int64_t opset,
           std::vector<std::string> inputs, std::vector<std::string> outputs,
           std::vector<std::map<int64_t, std::string>> dynamic, bool numbers,
           std::set<std::string> refused) {
          const OnnxExportOptions options =
              to_options(opset, std::move(inputs), std::move(outputs),
                         std::move(dynamic), numbers, std::move(refused));
          std::vector<Value> values = to_values(args);
          script::KeywordArguments keywords = to_keywords(kwargs);
          const GilRelease release;
          return exchange::export_onnx(module, method, std::move(values),
                                       std::move(keywords), options);
        });
  m.def("_onnx_export_function",
        [](const ScriptFunction& function, const nb::tuple& args,
           const nb::dict& kwargs, int64_t opset,
           std::vector<std::string> inputs, std::vector<std::string> outputs,
           std::vector<std::map<int64_t, std::string>> dynamic, bool numbers,
           std::set<std::string> refused) {
          const OnnxExportOptions options =
              to_options(opset, std::move(inputs), std::move(outputs),
                         std::move(dynamic), numbers, std::move(refused));
          std::vector<Value> values = to_values(args);
          script::KeywordArguments keywords = to_keywords(kwargs);
          const GilRelease release;
          return exchange::export_onnx(*function.function, std::move(values),
                                       std::move(keywords), options);
        });
  m.def("_onnx_exported_operators", &exchange::onnx_out::exported_operators);
}

}  // namespace hotaru::python
