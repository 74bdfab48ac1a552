// ONNX models of programs.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/autograd/held.h"
#include "bindings/exchange/exchange.h"
#include "bindings/gil.h"
#include "bindings/script/script_source.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
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

using exchange::onnx_out::attr;
using exchange::onnx_out::Attribute;
using exchange::onnx_out::Exporter;
using exchange::onnx_out::Names;
using exchange::onnx_out::Symbol;

/// The graph in the making, for a function of a program that writes nodes.
struct OnnxGraph {
  Exporter* exporter;

  Exporter& get() const {
    HOTARU_CHECK(exporter, "the graph is written already");
    return *exporter;
  }
};

/// An attribute of a kind as in PyTorch's g.op(): "i", "f", "s", "t", and lists
/// of the first three, "is".
Attribute to_attribute(Exporter& exporter, const std::string& name,
                       const std::string& kind, nb::handle value) {
  if (kind == "i") return attr(name, nb::cast<int64_t>(value));
  if (kind == "f") return attr(name, nb::cast<double>(value));
  if (kind == "s") return attr(name, nb::cast<std::string>(value));
  if (kind == "is")
    return attr(name, nb::cast<exchange::onnx_out::Ints>(value));
  if (kind == "fs") return attr(name, nb::cast<std::vector<float>>(value));
  if (kind == "ss") return attr(name, nb::cast<Names>(value));
  HOTARU_CHECK_AS(ValueError, kind == "t", "an attribute of kind '", kind,
                  "' has no form here");
  return exporter.emitter().tensor_attr(name, nb::cast<Tensor>(value));
}

Names add_nodes(const OnnxGraph& self, const std::string& op,
                const std::string& domain, Names inputs, size_t outputs,
                const nb::list& attributes) {
  std::vector<Attribute> given;
  for (nb::handle item : attributes)
    given.push_back(to_attribute(self.get(), nb::cast<std::string>(item[0]),
                                 nb::cast<std::string>(item[1]), item[2]));
  return self.get().emitter().add_many({op, domain}, std::move(inputs), outputs,
                                       std::move(given));
}

/// Name, sizes (None where they vary) and dtype of a value.
nb::object described(const std::string& name, nb::list sizes, DType dtype) {
  return nb::make_tuple(name, nb::tuple(sizes), dtype_object(dtype));
}

/// An argument of a symbolic function: of a value of the graph a description,
/// within a list of one; lists of such; all else as Python has it.
nb::object to_argument(Exporter& exporter, const Symbol& symbol,
                       const nb::object& make_value) {
  if (symbol.is_tensor()) {
    nb::list sizes;
    for (int64_t i = 0; i < symbol.cell->example.dim(); ++i) {
      const std::optional<int64_t> size = symbol.cell->example.size(i);
      sizes.append(size ? nb::object(nb::int_(*size)) : nb::none());
    }
    return make_value(described(exporter.name_of(symbol, std::nullopt),
                                std::move(sizes),
                                symbol.cell->example.dtype()));
  }
  if (symbol.is_number())
    return make_value(
        described(symbol.number->name, nb::list(), symbol.number->dtype));
  if (const std::optional<Value> known = symbol.known())
    return nb::steal(to_python(*known));
  HOTARU_CHECK_AS(
      NotImplementedError,
      (symbol.is_list() && !symbol.is_sequence()) || symbol.is_tuple(),
      "a symbolic function takes no sequence of the graph");
  nb::list out;
  for (const Symbol& item : symbol.items())
    out.append(to_argument(exporter, item, make_value));
  return symbol.is_tuple() ? nb::object(nb::tuple(out)) : out;
}

/// `function(graph, arguments)` gives the names of the results.
exchange::onnx_out::Symbolic to_symbolic(nb::handle function,
                                         nb::handle make_value) {
  const auto held = std::make_shared<Held>(nb::borrow(function));
  const auto value = std::make_shared<Held>(nb::borrow(make_value));
  return [held, value](Exporter& exporter, const std::vector<Symbol>& given) {
    const GilAcquire gil;
    nb::list arguments;
    for (const Symbol& symbol : given)
      arguments.append(to_argument(exporter, symbol, value->get()));
    const nb::object graph = nb::cast(OnnxGraph{&exporter});
    struct End {
      const nb::object& graph;
      ~End() { nb::inst_ptr<OnnxGraph>(graph)->exporter = nullptr; }
    } const end{graph};
    return nb::cast<Names>(held->get()(graph, nb::tuple(arguments)));
  };
}

OnnxExportOptions to_options(
    int64_t opset, std::vector<std::string> inputs,
    std::vector<std::string> outputs,
    std::vector<std::map<int64_t, std::string>> dynamic, bool numbers,
    const nb::dict& symbolics, nb::handle make_value,
    std::map<std::string, int64_t> domains) {
  OnnxExportOptions out;
  out.opset = opset;
  out.input_names = std::move(inputs);
  out.output_names = std::move(outputs);
  out.dynamic = std::move(dynamic);
  out.number_inputs = numbers;
  out.domains = std::move(domains);
  for (auto [name, function] : symbolics)
    out.symbolics.emplace(nb::cast<std::string>(name),
                          to_symbolic(function, make_value));
  return out;
}

io::onnx::WriteOptions to_write(bool external, bool initializers,
                                bool as_inputs) {
  return {.external_data = external,
          .initializers = initializers,
          .as_inputs = as_inputs};
}

void bind_graph(nb::module_& m) {
  nb::class_<OnnxGraph>(m, "_OnnxGraph", "An ONNX graph in the making.")
      .def("_add", &add_nodes)
      .def("_constant", [](const OnnxGraph& self, const Tensor& tensor) {
        return self.get().emitter().constant(tensor);
      });
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
  bind_graph(m);
  bind_program(m);
  m.def("_onnx_export_module",
        [](const script::Module& module, const std::string& method,
           const nb::tuple& args, const nb::dict& kwargs, int64_t opset,
           std::vector<std::string> inputs, std::vector<std::string> outputs,
           std::vector<std::map<int64_t, std::string>> dynamic, bool numbers,
           const nb::dict& symbolics, nb::handle make_value,
           std::map<std::string, int64_t> domains) {
          const OnnxExportOptions options = to_options(
              opset, std::move(inputs), std::move(outputs), std::move(dynamic),
              numbers, symbolics, make_value, std::move(domains));
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
           const nb::dict& symbolics, nb::handle make_value,
           std::map<std::string, int64_t> domains) {
          const OnnxExportOptions options = to_options(
              opset, std::move(inputs), std::move(outputs), std::move(dynamic),
              numbers, symbolics, make_value, std::move(domains));
          std::vector<Value> values = to_values(args);
          script::KeywordArguments keywords = to_keywords(kwargs);
          const GilRelease release;
          return exchange::export_onnx(*function.function, std::move(values),
                                       std::move(keywords), options);
        });
  m.def("_onnx_exported_operators", &exchange::onnx_out::exported_operators);
}

}  // namespace hotaru::python
