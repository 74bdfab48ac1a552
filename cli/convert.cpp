#include <algorithm>
#include <charconv>
#include <map>

#include "commands.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/onnx_out/export_onnx.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/program/function.h"
#include "inputs.h"

namespace hotaru::cli {
namespace {

struct ConvertOptions {
  std::string from, to;
  std::string method = "forward";
  std::vector<std::string> dynamic;
  int64_t opset = 20;
  bool external_data = false;
  Inputs inputs;
};

/// "batch=x:0": which dimension of which input may be of any size.
struct DynamicDim {
  std::string name, input;
  int64_t dim = 0;
};

DynamicDim parse_dynamic(const std::string& word) {
  const size_t equals = word.find('=');
  const size_t colon = word.rfind(':');
  DynamicDim out;
  const bool split = equals != word.npos && colon != word.npos && equals > 0 &&
                     colon > equals + 1;
  if (split) {
    out.name = word.substr(0, equals);
    out.input = word.substr(equals + 1, colon - equals - 1);
    const char* first = word.data() + colon + 1;
    const char* last = word.data() + word.size();
    auto [end, error] = std::from_chars(first, last, out.dim);
    if (error == std::errc() && end == last && first != last) return out;
  }
  fail<ValueError>("--dynamic ", word,
                   ": write NAME=INPUT:DIMENSION, such as batch=x:0");
}

/// Dimensions by input of the graph: the arguments that are tensors or
/// numbers, in order.
std::vector<std::map<int64_t, std::string>> dynamic_dims(
    script::Function& method, const std::vector<Value>& arguments,
    const std::vector<std::string>& words) {
  std::vector<std::string> names;
  const auto& params = method.params();
  for (size_t i = 0; i < arguments.size() && i + 1 < params.size(); ++i) {
    if (arguments[i].is_tensor() || arguments[i].is_number())
      names.push_back(params[i + 1].name);
  }
  std::vector<std::map<int64_t, std::string>> out(names.size());
  for (const std::string& word : words) {
    const DynamicDim dynamic = parse_dynamic(word);
    auto found = std::find(names.begin(), names.end(), dynamic.input);
    if (found == names.end()) {
      std::string known;
      for (const std::string& name : names)
        known += concat(known.empty() ? "" : ", ", name);
      fail<ValueError>("--dynamic ", word, ": there is no input '",
                       dynamic.input, "'; the model's are ", known);
    }
    out[size_t(found - names.begin())][dynamic.dim] = dynamic.name;
  }
  return out;
}

void write_onnx(const script::Module& module, const ConvertOptions& options) {
  std::vector<Value> arguments = options.inputs.values();
  exchange::OnnxExportOptions wanted;
  wanted.opset = options.opset;
  wanted.number_inputs = true;
  wanted.dynamic =
      dynamic_dims(module.method(options.method), arguments, options.dynamic);
  const exchange::OnnxExport made = exchange::export_onnx(
      module, options.method, std::move(arguments), {}, wanted);
  if (!made.missing.empty()) {
    std::string list;
    for (const auto& [name, missing] : made.missing) {
      list +=
          concat("\n", name, " (", missing.count, " times)\n", missing.where);
    }
    fail<NotImplementedError>("operators without an ONNX form here:", list);
  }
  // Protobuf ends at 2 GiB.
  const bool large =
      io::onnx::initializer_bytes(made.initializers) > (uint64_t{2040} << 20);
  io::onnx::write_model(options.to, made.model, made.initializers,
                        {.external_data = options.external_data || large,
                         .initializers = true,
                         .as_inputs = false});
}

void convert(const ConvertOptions& options) {
  const script::Module module = exchange::load_program(options.from);
  module.eval();
  if (options.to.ends_with(".onnx")) return write_onnx(module, options);
  script::save(module, options.to);
}

}  // namespace

void add_convert(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "convert", "Writes a model in another format, which the suffix names");
  auto options = std::make_shared<ConvertOptions>();
  command
      ->add_option("model", options->from,
                   "A TorchScript archive, a .pt2 file or an ONNX model")
      ->required();
  command
      ->add_option("to", options->to,
                   "FILE.onnx for ONNX, anything else for an archive")
      ->required();
  options->inputs.add_options(*command);
  command
      ->add_option("--dynamic", options->dynamic,
                   "A dimension of any size in the ONNX model")
      ->type_name("NAME=INPUT:DIM");
  command->add_option("--opset", options->opset, "Version of ONNX's operators")
      ->capture_default_str();
  command->add_option("--method", options->method, "What the model does")
      ->capture_default_str();
  command->add_flag("--external-data", options->external_data,
                    "Weights in a file beside the model");
  command->callback([options] { convert(*options); });
}

}  // namespace hotaru::cli
