#include "hotaru/exchange/onnx_out/export_onnx.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/exchange/onnx_out/merger.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/program/unit.h"

namespace hotaru::exchange {

using onnx_out::Emitter;
using onnx_out::Example;
using onnx_out::Exporter;
using onnx_out::Symbol;

namespace {

constexpr int64_t kMinOpset = 13;
constexpr int64_t kMaxOpset = 23;

// The version of the file format that came with an opset.
int64_t ir_version(int64_t opset) {
  if (opset >= 23) return 11;
  if (opset >= 21) return 10;
  // PyTorch writes 10 for its default, 20.
  return opset >= 19 ? 10 : 8;
}

// The other size of a dynamic dimension; one rule after the other is tried,
// where a program asks something of sizes.
int64_t other_size(int64_t size, int attempt) {
  if (size < 1) return size + 3;
  switch (attempt) {
    case 0:
      return size * 2;
    case 1:
      return size + 1;
    case 2:
      return size * 3;
    default:
      return size > 1 ? size - 1 : 4;
  }
}
constexpr int kAttempts = 4;

class Job {
 public:
  Job(const OnnxExportOptions& options, int attempt)
      : options_(options),
        attempt_(attempt),
        emitter_(options.opset),
        exporter_(emitter_, options.symbolics) {
    for (const std::string& name : options.input_names) reserve(name);
    for (const std::string& name : options.output_names) reserve(name);
  }

  void name_tensors(const script::Module& module) {
    for (const auto& [name, tensor] : module.named_parameters())
      exporter_.name_tensor(tensor, name);
    for (const auto& [name, tensor] : module.named_buffers())
      exporter_.name_tensor(tensor, name);
  }

  OnnxExport run(script::Function& function, const Value& self,
                 const std::vector<Value>& arguments) {
    std::vector<Symbol> symbols;
    const auto& params = function.params();
    for (size_t i = 0; i < arguments.size(); ++i) {
      const bool is_self = i == 0 && !self.is_none();
      symbols.push_back(is_self ? Symbol(self)
                                : input(params[i].name, arguments[i]));
    }
    HOTARU_CHECK_AS(ValueError, options_.dynamic.size() <= inputs_.size(),
                    "dynamic dimensions of ", options_.dynamic.size(),
                    " inputs, where the program takes ", inputs_.size());
    OnnxExport out;
    try {
      collect(exporter_.call(function, std::move(symbols)));
    } catch (const onnx_out::Incomplete&) {
    }
    out.missing = exporter_.missing();
    if (!out.missing.empty()) return out;
    HOTARU_CHECK_AS(ValueError, !outputs_.empty(),
                    "the program returns nothing: an ONNX model has outputs, "
                    "so return at least one tensor or number");
    io::onnx::Model& model = out.model;
    model.ir_version = ir_version(options_.opset);
    model.producer = "hotaru";
    model.opsets[""] = options_.opset;
    for (const std::string& domain : emitter_.domains()) {
      const auto given = options_.domains.find(domain);
      model.opsets[domain] =
          given == options_.domains.end() ? 1 : given->second;
    }
    model.graph = emitter_.finish(inputs_, outputs_);
    out.initializers = emitter_.initializers();
    for (const auto& each : inputs_) out.inputs.push_back(each.name);
    for (const auto& each : outputs_) out.outputs.push_back(each.name);
    out.bytes = emitter_.bytes();
    return out;
  }

 private:
  void reserve(const std::string& name) {
    HOTARU_CHECK_AS(ValueError, !name.empty(), "an empty name");
    emitter_.reserve(name);
  }

  // The next input's name: as given, or as the program has it.
  std::string next_name(const std::string& name) {
    const size_t i = inputs_.size();
    return i < options_.input_names.size() ? options_.input_names[i]
                                           : emitter_.fresh(name);
  }

  Symbol input(const std::string& name, const Value& value) {
    if (value.is_tensor()) return tensor_input(name, value.as_tensor());
    if (value.is_list() || value.is_tuple()) {
      const auto& items =
          value.is_list() ? value.as_list().items : value.as_tuple().items;
      std::vector<Symbol> out;
      for (size_t i = 0; i < items.size(); ++i)
        out.push_back(input(concat(name, "_", i), items[i]));
      return value.is_list() ? Symbol::list_of(std::move(out), 0)
                             : Symbol::tuple_of(std::move(out));
    }
    if (value.is_dict()) {
      Symbol out;
      out.kind = Symbol::Kind::kDict;
      out.dict = std::make_shared<onnx_out::Dict>();
      for (const auto& [key, item] : value.as_dict().items) {
        const std::string part =
            key.is_string() ? key.as_string() : concat(out.dict->size());
        out.dict->emplace_back(key, input(concat(name, "_", part), item));
      }
      return out;
    }
    if (options_.number_inputs && value.is_number() && !value.is_complex())
      return number_input(name, value);
    return value;
  }

  Symbol number_input(const std::string& name, const Value& value) {
    const DType dtype = onnx_out::number_dtype(value);
    inputs_.push_back(onnx_out::declared(next_name(name), dtype));
    inputs_.back().dims.emplace();
    Value other = value;
    if (value.is_int()) other = Value(value.as_int() + 1);
    return Symbol::of_number(inputs_.back().name, dtype, value, other);
  }

  Symbol tensor_input(const std::string& name, const Tensor& tensor) {
    const size_t at = inputs_.size();
    io::onnx::ValueInfo info =
        onnx_out::declared(next_name(name), tensor.dtype());
    info.dims.emplace();
    Dims first(tensor.sizes());
    Dims second = first;
    for (int64_t size : first) info.dims->push_back({.size = size, .name = {}});
    if (at < options_.dynamic.size()) {
      for (const auto& [given, dim_name] : options_.dynamic[at]) {
        const int64_t dim = wrap_dim(given, tensor.dim(), false);
        const size_t i = size_t(dim);
        second[i] = other_size(first[i], attempt_);
        const std::string label =
            dim_name.empty() ? concat(info.name, "_dim_", dim) : dim_name;
        (*info.dims)[i] = {.size = -1, .name = label};
        dims_.emplace_back(std::make_pair(first[i], second[i]), label);
      }
    }
    inputs_.push_back(info);
    Example example;
    example.first = onnx_out::meta_of(tensor);
    example.second = example.first;
    if (!std::ranges::equal(first, second)) {
      example.second = empty(
          second, TensorOptions(tensor.dtype(), Device{DeviceType::kMeta}));
    }
    return exporter_.new_tensor(info.name, std::move(example));
  }

  // Outputs, in the order in which the program's result holds them.
  void collect(const Symbol& symbol) {
    if (symbol.is_none()) return;
    if (symbol.is_tensor() || symbol.is_number() || symbol.is_sequence() ||
        (symbol.is_host() && symbol.host.is_number()))
      return add_output(symbol);
    if (symbol.is_list() || symbol.is_tuple()) {
      for (const Symbol& item : symbol.items()) collect(item);
      return;
    }
    if (symbol.kind == Symbol::Kind::kDict) {
      for (const auto& [key, item] : *symbol.dict) collect(item);
      return;
    }
    fail<NotImplementedError>("the program returns a value of type ",
                              symbol.host.type_name(),
                              ", which no ONNX model can");
  }

  void add_output(const Symbol& symbol) {
    const size_t at = outputs_.size();
    const std::string name =
        at < options_.output_names.size()
            ? options_.output_names[at]
            : emitter_.fresh(at == 0 ? "output" : concat("output_", at));
    const std::string value = exporter_.name_of(symbol, std::nullopt);
    emitter_.add_node("Identity", {value}, {name}, {});
    if (symbol.is_sequence()) {
      outputs_.push_back(
          onnx_out::declared(name, symbol.list->element.dtype(), true));
      return;
    }
    if (!symbol.is_tensor()) {
      outputs_.push_back(onnx_out::declared(
          name, symbol.is_number() ? symbol.number->dtype
                                   : onnx_out::number_dtype(symbol.host)));
      outputs_.back().dims.emplace();
      return;
    }
    const Example& example = symbol.cell->example;
    outputs_.push_back(onnx_out::declared(name, example.dtype()));
    auto& dims = outputs_.back().dims.emplace();
    for (int64_t i = 0; i < example.dim(); ++i) {
      if (std::optional<int64_t> size = example.size(i)) {
        dims.push_back({.size = *size, .name = {}});
        continue;
      }
      dims.push_back({.size = -1, .name = label(example, i)});
    }
  }

  // The input's dimension that has these sizes, or a name of its own.
  std::string label(const Example& example, int64_t dim) const {
    const std::pair sizes(example.first.size(dim), example.second.size(dim));
    for (const auto& [known, name] : dims_)
      if (known == sizes) return name;
    return concat(outputs_.back().name, "_dim_", dim);
  }

  const OnnxExportOptions& options_;
  const int attempt_;
  Emitter emitter_;
  Exporter exporter_;
  std::vector<io::onnx::ValueInfo> inputs_, outputs_;
  std::vector<std::pair<std::pair<int64_t, int64_t>, std::string>> dims_;
};

OnnxExport exported(script::Function& function, const script::Module* module,
                    std::vector<Value> arguments,
                    script::KeywordArguments keywords,
                    const OnnxExportOptions& options) {
  HOTARU_CHECK_AS(ValueError,
                  options.opset >= kMinOpset && options.opset <= kMaxOpset,
                  "opset_version is ", options.opset, "; hotaru writes ",
                  kMinOpset, " to ", kMaxOpset);
  std::lock_guard lock(function.unit().mutex());
  Value self;
  if (module) {
    self = Value(module->object());
    arguments.insert(arguments.begin(), self);
  }
  const std::vector<Value> bound =
      function.bind(std::move(arguments), std::move(keywords));
  bool dynamic = false;
  for (const auto& each : options.dynamic) dynamic = dynamic || !each.empty();
  for (int attempt = 0;; ++attempt) {
    try {
      Job job(options, attempt);
      if (module) job.name_tensors(*module);
      return job.run(function, self, bound);
    } catch (const Error& error) {
      const std::string_view what = error.what();
      const bool sizes = what.find("with other sizes of the dynamic") !=
                         std::string_view::npos;
      if (!dynamic || !sizes || attempt + 1 >= kAttempts) throw;
    }
  }
}

}  // namespace

OnnxExport export_onnx(const script::Module& module, const std::string& method,
                       std::vector<Value> arguments,
                       script::KeywordArguments keywords,
                       const OnnxExportOptions& options) {
  return exported(module.method(method), &module, std::move(arguments),
                  std::move(keywords), options);
}

OnnxExport export_onnx(script::Function& function, std::vector<Value> arguments,
                       script::KeywordArguments keywords,
                       const OnnxExportOptions& options) {
  return exported(function, nullptr, std::move(arguments), std::move(keywords),
                  options);
}

}  // namespace hotaru::exchange
