#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>

#include "commands.h"
#include "compare/precision.h"
#include "convert_weights.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/onnx_out/export_onnx.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/io/weights/weight_file.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/passes/round_weights.h"
#include "hotaru/script/program/function.h"
#include "inputs.h"
#include "python.h"

namespace hotaru::cli {
namespace {

/// As few digits as give the same number.
std::string digits(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

struct ConvertOptions {
  std::string from, to;
  std::string method = "forward";
  std::string key;
  std::string precision;
  std::vector<std::string> dynamic;
  int64_t opset = 20;
  int64_t group = 32;
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
  for (size_t i = 0; i < arguments.size() && i + 1 < params.size(); ++i)
    if (arguments[i].is_tensor() || arguments[i].is_number())
      names.push_back(params[i + 1].name);
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
  std::vector<Value> arguments = options.inputs.values_for(options.from);
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

/// Traced by the Python package, which has the exporter.
[[noreturn]] void write_pt2(const ConvertOptions& options,
                            const std::string& command) {
  std::vector<std::string> words{"hotaru.export", options.from, options.to,
                                 "--method", options.method};
  for (const Value& value : options.inputs.values_for(options.from)) {
    // With "=", so that a number below zero is no option.
    if (value.is_tensor()) {
      std::string sizes;
      for (const int64_t size : value.as_tensor().sizes())
        sizes += concat(sizes.empty() ? "" : ",", size);
      words.push_back(concat("--shape=", sizes, ":",
                             dtype_name(value.as_tensor().dtype())));
    } else if (value.is_bool()) {
      words.emplace_back(value.as_bool() ? "--input=true" : "--input=false");
    } else if (value.is_none()) {
      words.emplace_back("--input=none");
    } else {
      words.push_back(concat("--input=", value.is_int()
                                             ? std::to_string(value.as_int())
                                             : digits(value.as_double())));
    }
  }
  for (const std::string& word : options.dynamic)
    words.push_back("--dynamic=" + word);
  become_python(command, "convert to .pt2", words);
}

/// An archive whose linear maps have weights of fewer bits; tells which.
void write_low(const script::Module& module, const ConvertOptions& options) {
  const std::vector<Precision> wanted = parse_precisions(options.precision);
  HOTARU_CHECK_AS(ValueError, wanted.size() == 1, "--precision ",
                  options.precision, ": an archive has one");
  script::ProductCounts counts;
  const std::vector<std::string> kept = methods_of(module);
  const auto form = integer_weights(wanted[0], options.group);
  const script::Module low =
      form ? script::quantize_linear(module, kept, &counts, *form)
           : script::round_weights(module, kept, &counts);
  HOTARU_CHECK(
      counts.rewritten + counts.embeddings + counts.recurrent > 0, options.from,
      ": no linear map in it has a constant weight of float32",
      form && form->bits == 4
          ? concat(" of a width that groups of ", form->group, " divide")
          : std::string());
  script::save(low, options.to);
  std::cout << count_text(counts, wanted[0]) << '\n';
}

void convert(const ConvertOptions& options, const std::string& command) {
  const Ref<io::MappedFile> file = io::MappedFile::open(options.from);
  if (!options.precision.empty()) {
    const bool archive = !options.to.ends_with(".onnx") &&
                         !options.to.ends_with(".pt2") &&
                         !names_weights(options.to);
    HOTARU_CHECK_AS(ValueError, archive, "--precision: of ", options.to,
                    " there is no such form; write a TorchScript archive, "
                    "such as model.pt");
    const script::Module module = exchange::load_program(options.from);
    module.eval();
    return write_low(module, options);
  }
  if (io::looks_like_weights(file->bytes()) ||
      exchange::format_of(file) == exchange::Format::kTorchFile) {
    HOTARU_CHECK(
        !options.to.ends_with(".onnx") && !options.to.ends_with(".pt2"),
        options.from, ": this has tensors and no program, which ", options.to,
        " would have to be");
    if (io::is_old_torch_file(*file)) {
      std::vector<std::string> words{options.to};
      if (!options.key.empty()) words.push_back("--key=" + options.key);
      begin_again_with_new_file(command, "convert", options.from, words);
    }
    return convert_weights(options.from, options.to, options.key);
  }
  HOTARU_CHECK_AS(ValueError, options.key.empty(), "--key ", options.key, ": ",
                  options.from, " is a program");
  if (names_weights(options.to))
    return write_program_weights(options.from, options.to);
  if (options.to.ends_with(".pt2")) write_pt2(options, command);
  const script::Module module = exchange::load_program(options.from);
  module.eval();
  if (options.to.ends_with(".onnx")) return write_onnx(module, options);
  script::save(module, options.to);
}

}  // namespace

void add_convert(Program& program, const std::string& command) {
  const Verb verb = program.verb(
      "convert",
      "Writes a program or tensors in another format, which the suffix "
      "names");
  auto options = std::make_shared<ConvertOptions>();
  verb.option("model", options->from,
              "A program (TorchScript archive, .pt2, ONNX), or tensors "
              "(safetensors, its index, GGUF, a state dict)")
      .required();
  verb.option("to", options->to,
              "Of a program: FILE.onnx, FILE.pt2 (traced by the Python "
              "package), FILE.safetensors for its tensors, anything else "
              "for an archive. Of tensors: FILE.safetensors, anything "
              "else for a state dict")
      .required();
  options->inputs.add_options(verb);
  verb.option("--dynamic", options->dynamic,
              "A dimension of any size in the ONNX model or .pt2 file")
      .type_name("NAME=INPUT:DIM");
  verb.option("--opset", options->opset, "Version of ONNX's operators")
      .shows_default();
  verb.option("--method", options->method, "What the model does")
      .shows_default();
  verb.option("--precision", options->precision,
              "Of linear maps' weights in the archive: int8 (products in "
              "integers, inputs quantised in each call), int4 (in groups, "
              "widened in each call; only hotaru reads these two) or "
              "bfloat16 (stored so, products in float32)");
  verb.option("--group", options->group, "Columns of int4 that share a scale")
      .one_of({"32", "64", "128"})
      .shows_default();
  verb.flag("--external-data", options->external_data,
            "Weights in a file beside the model");
  verb.option("--key", options->key,
              "Which entry of a file of torch.save holds the tensors");
  verb.action([options, command] { convert(*options, command); });
}

}  // namespace hotaru::cli
