#include "program.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/onnx/load_onnx.h"
#include "hotaru/io/onnx/onnx_file.h"
#include "hotaru/ops/registry.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/source/source.h"
#include "json.h"
#include "text.h"

namespace hotaru::cli {
namespace {

namespace onnx = io::onnx;

struct Named {
  std::string name, type;
};
struct Weight {
  std::string name, type;
  std::vector<int64_t> shape;
  double elements = 1, nbytes = 0;
};

/// Facts that are told of a program.
struct ProgramDescription {
  std::string format;
  std::vector<Named> inputs, outputs;
  std::vector<Weight> parameters, buffers;
  std::map<std::string, size_t> operators;
  std::set<std::string> missing;
  /// Problem besides missing operators, in the loader's words.
  std::string problem;
};

Weight weight_of(std::string name, std::string type, std::vector<int64_t> shape,
                 double itemsize) {
  Weight out{std::move(name), std::move(type), std::move(shape)};
  for (int64_t size : out.shape) out.elements *= double(size);
  out.nbytes = out.elements * itemsize;
  return out;
}

// -- modules ----------------------------------------------------------------

void count(const script::Block& block, ProgramDescription* to) {
  for (const script::Node* node = block.first; node; node = node->next) {
    switch (node->kind) {
      case script::NodeKind::kOp:
        ++to->operators[script::qualified(node->op->name())];
        break;
      case script::NodeKind::kIf:
        ++to->operators["prim::If"];
        break;
      case script::NodeKind::kLoop:
      case script::NodeKind::kWhile:
        ++to->operators["prim::Loop"];
        break;
      default:
        break;
    }
    for (const script::Block* inner : node->blocks) count(*inner, to);
  }
}

/// The operator that "operator 'aten::f' is not implemented" names, or "".
std::string missing_operator(const std::string& text) {
  constexpr std::string_view kBefore = "operator '", kAfter = "' is not impl";
  const size_t begin = text.find(kBefore);
  const size_t end = begin == text.npos ? begin : text.find(kAfter, begin);
  if (end == text.npos) return "";
  return text.substr(begin + kBefore.size(), end - begin - kBefore.size());
}

/// Operators of all methods, each as often as its code stands there.
void describe_code(const script::Module& module, ProgramDescription* to) {
  std::set<const script::Function*> seen;
  for (const auto& [name, part] : module.named_modules()) {
    for (const std::string& method : part.method_names()) {
      script::Function& function = part.method(method);
      if (!seen.insert(&function).second) continue;
      try {
        count(function.compile_again()->top(), to);
      } catch (const Error& error) {
        const std::string missing = missing_operator(error.what());
        if (missing.empty()) to->problem = error.what();
        if (!missing.empty()) to->missing.insert(missing);
      }
    }
  }
}

Weight weight_of(const std::string& name, const Tensor& t) {
  return weight_of(name, dtype_name(t.dtype()),
                   {t.sizes().begin(), t.sizes().end()},
                   double(itemsize(t.dtype())));
}

void describe_module(const script::Module& module, ProgramDescription* to) {
  for (const auto& [name, tensor] : module.named_parameters())
    to->parameters.push_back(weight_of(name, tensor));
  for (const auto& [name, tensor] : module.named_buffers())
    to->buffers.push_back(weight_of(name, tensor));
  if (module.has_method("forward")) {
    script::Function& forward = module.method("forward");
    const auto& params = forward.params();
    for (size_t i = 1; i < params.size(); ++i)
      to->inputs.push_back({params[i].name, params[i].type->str()});
    try {
      to->outputs.push_back({"", forward.result_type()->str()});
    } catch (const Error&) {
      // Told of with the code.
    }
  }
  describe_code(module, to);
}

// -- ONNX ---------------------------------------------------------------------

void count(const onnx::Graph& graph, ProgramDescription* to);

void count(const std::vector<onnx::Node>& nodes, ProgramDescription* to) {
  for (const onnx::Node& node : nodes) {
    const bool own = node.domain.empty() || node.domain == "ai.onnx";
    ++to->operators[own ? node.op : node.domain + "::" + node.op];
    for (const onnx::Attribute& attribute : node.attributes)
      for (const auto& graph : attribute.graphs) count(*graph, to);
  }
}

Weight weight_of(const onnx::OnnxFile& file, const onnx::TensorProto& tensor) {
  onnx::TensorInfo info = file.info(tensor);
  const auto dtype = onnx::dtype_of(info.data_type);
  return weight_of(
      tensor.name,
      dtype ? dtype_name(*dtype) : onnx::data_type_name(info.data_type),
      std::move(info.dims), dtype ? double(itemsize(*dtype)) : 0);
}

void count(const onnx::Graph& graph, ProgramDescription* to) {
  count(graph.nodes, to);
}

void describe_onnx(const std::string& path, ProgramDescription* to) {
  const onnx::OnnxFile file(io::MappedFile::open(path));
  const onnx::Model& model = file.model();
  for (const auto& [domain, version] : model.opsets)
    to->format +=
        concat(", opset ", version, domain.empty() ? "" : " of ", domain);
  if (!model.producer.empty())
    to->format += concat(", by ", model.producer, " ", model.producer_version);
  std::set<std::string> constant;
  for (const onnx::TensorProto& tensor : model.graph.initializers) {
    constant.insert(tensor.name);
    Weight weight = weight_of(file, tensor);
    const bool trainable =
        weight.type.starts_with("float") || weight.type.starts_with("bfloat");
    (trainable ? to->parameters : to->buffers).push_back(std::move(weight));
  }
  for (const onnx::ValueInfo& value : model.graph.inputs)
    if (!constant.count(value.name))
      to->inputs.push_back({value.name, onnx::type_text(value)});
  for (const onnx::ValueInfo& value : model.graph.outputs)
    to->outputs.push_back({value.name, onnx::type_text(value)});
  count(model.graph, to);
  std::vector<std::string> known = exchange::onnx_operators();
  for (const char* flow : {"Constant", "If", "Loop", "Scan", "SequenceMap",
                           "Identity", "Cast", "Optional"})
    known.emplace_back(flow);
  for (const onnx::Function& function : model.functions) {
    known.push_back(function.domain.empty()
                        ? function.name
                        : function.domain + "::" + function.name);
    count(function.nodes, to);
  }
  for (const auto& [name, times] : to->operators)
    if (std::find(known.begin(), known.end(), name) == known.end())
      to->missing.insert(name);
}

// -- printing -----------------------------------------------------------------

ProgramDescription describe(const std::string& path) {
  const exchange::Format format =
      exchange::format_of(io::MappedFile::open(path));
  ProgramDescription out;
  out.format = exchange::format_text(format);
  if (format == exchange::Format::kOnnx)
    describe_onnx(path, &out);
  else
    describe_module(exchange::load_program(path), &out);
  return out;
}

/// Most frequent ones first.
std::vector<std::pair<std::string, size_t>> by_frequency(
    const std::map<std::string, size_t>& operators) {
  std::vector<std::pair<std::string, size_t>> out(operators.begin(),
                                                  operators.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  return out;
}

struct Sum {
  double elements = 0, nbytes = 0;
};
Sum sum_of(const std::vector<Weight>& weights) {
  Sum sum;
  for (const Weight& w : weights) {
    sum.elements += w.elements;
    sum.nbytes += w.nbytes;
  }
  return sum;
}

Json json_of(const std::vector<Named>& values) {
  Json out = Json::array();
  for (const Named& value : values)
    out.push_back({{"name", value.name}, {"type", value.type}});
  return out;
}

Json json_of(const std::vector<Weight>& weights) {
  const Sum sum = sum_of(weights);
  Json out = {{"elements", whole(sum.elements)}, {"bytes", whole(sum.nbytes)}};
  out["tensors"] = Json::array();
  for (const Weight& w : weights)
    out["tensors"].push_back({{"name", w.name},
                              {"type", w.type},
                              {"shape", w.shape},
                              {"bytes", whole(w.nbytes)}});
  return out;
}

Json report(const std::string& path, const ProgramDescription& program) {
  Json out = {{"path", path},
              {"format", program.format},
              {"inputs", json_of(program.inputs)},
              {"outputs", json_of(program.outputs)},
              {"parameters", json_of(program.parameters)},
              {"buffers", json_of(program.buffers)},
              {"operators", Json::object()},
              {"missing", program.missing},
              {"problem", program.problem}};
  for (const auto& [name, times] : by_frequency(program.operators))
    out["operators"][name] = times;
  return out;
}

void show(const char* label, const std::vector<Named>& values) {
  for (const Named& value : values) {
    std::cout << std::left << std::setw(12) << label
              << (value.name.empty() ? "" : shown(value.name) + ": ")
              << shown(value.type) << '\n';
    label = "";
  }
}

void show(const char* label, const std::vector<Weight>& weights) {
  const Sum sum = sum_of(weights);
  std::cout << std::left << std::setw(12) << label << weights.size()
            << " tensors, " << amount(sum.elements, "elements") << ", "
            << amount(sum.nbytes, "B") << '\n';
  for (const Weight& w : weights)
    std::cout << "  " << std::left << std::setw(46) << shown(w.name) << ' '
              << std::setw(9) << shown(w.type) << ' ' << std::setw(20)
              << concat(shape_text(Dims(w.shape))) << ' '
              << amount(w.nbytes, "B") << '\n';
}

void show_operators(const ProgramDescription& program) {
  size_t total = 0;
  for (const auto& [name, times] : program.operators) total += times;
  std::cout << std::left << std::setw(12) << "operators" << total << ", "
            << program.operators.size() << " different\n";
  for (const auto& [name, times] : by_frequency(program.operators))
    std::cout << "  " << std::left << std::setw(46) << shown(name) << ' '
              << times << '\n';
}

void show_missing(const ProgramDescription& program) {
  std::string names;
  for (const std::string& name : program.missing)
    names += (names.empty() ? "" : ", ") + name;
  std::cout << std::left << std::setw(12) << "missing"
            << (names.empty() ? "none" : shown(names)) << '\n';
  if (!program.problem.empty())
    std::cout << std::left << std::setw(12) << "problem" << program.problem
              << '\n';
}

}  // namespace

void show_program(const std::string& path, bool as_json) {
  const ProgramDescription program = describe(path);
  if (as_json) {
    std::cout << report(path, program)
                     .dump(1, ' ', false, Json::error_handler_t::replace)
              << '\n';
    return;
  }
  std::cout << shown(program.format) << '\n';
  show("inputs", program.inputs);
  show("outputs", program.outputs);
  show("parameters", program.parameters);
  show("buffers", program.buffers);
  show_operators(program);
  show_missing(program);
}

}  // namespace hotaru::cli
