#include "inputs.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/io/npy.h"
#include "hotaru/io/onnx/onnx_file.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::cli {
namespace {

constexpr DType kDTypes[] = {
    DType::kBool,    DType::kUInt8,   DType::kInt8,      DType::kInt16,
    DType::kInt32,   DType::kInt64,   DType::kFloat16,   DType::kBFloat16,
    DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128};

/// The whole word as a number; false if it is none.
template <class T>
bool read_number(std::string_view word, T* number) {
  auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), *number);
  return error == std::errc() && end == word.data() + word.size();
}

DType parse_dtype(const std::string& name, const std::string& word) {
  for (DType dtype : kDTypes)
    if (name == dtype_name(dtype)) return dtype;
  fail<ValueError>("--shape ", word, ": '", name,
                   "' is no dtype; one is float32, int64 or bool");
}

/// Standard normal draws, the same in every run; zeros for other dtypes.
Tensor made_up(IntSpan sizes, DType dtype) {
  if (!is_floating_point(dtype)) {
    Tensor tensor = allocate(sizes, dtype, Device{});
    std::memset(host_bytes(tensor, "--shape"), 0, tensor.storage()->nbytes());
    return tensor;
  }
  Tensor tensor = allocate(sizes, DType::kFloat32, Device{});
  std::mt19937 engine;
  std::normal_distribution<float> normal;
  std::generate_n(host_data<float>(tensor, "--shape"), tensor.numel(),
                  [&] { return normal(engine); });
  return to(tensor, dtype);
}

/// Types of the inputs that an ONNX file declares, none where it says nothing.
std::vector<std::optional<DType>> declared_types(
    const io::onnx::OnnxFile& file) {
  const io::onnx::Graph& graph = file.model().graph;
  std::set<std::string> constant;
  for (const io::onnx::TensorProto& tensor : graph.initializers)
    constant.insert(tensor.name);
  std::vector<std::optional<DType>> out;
  for (const io::onnx::ValueInfo& input : graph.inputs)
    if (!constant.count(input.name))
      out.push_back(io::onnx::dtype_of(input.elem_type));
  return out;
}

}  // namespace

Value number_as(DType dtype, const Value& value) {
  if (value.is_bool())
    return Value(scalar_tensor(Scalar(value.as_bool()), dtype));
  if (value.is_int())
    return Value(scalar_tensor(Scalar(value.as_int()), dtype));
  if (value.is_double())
    return Value(scalar_tensor(Scalar(value.as_double()), dtype));
  return value;
}

Value parse_input(const std::string& word) {
  if (word.ends_with(".npy")) return Value(io::read_npy(word));
  if (word == "true") return Value(true);
  if (word == "false") return Value(false);
  if (word == "none") return Value();
  if (int64_t number; read_number(word, &number)) return Value(number);
  if (double number; read_number(word, &number)) return Value(number);
  std::error_code unreadable;
  if (std::filesystem::exists(word, unreadable))
    return Value(io::read_npy(word));
  fail<ValueError>("--input ", word,
                   ": give a .npy file, a number, true, false or none");
}

Tensor parse_shape(const std::string& word) {
  const size_t colon = word.find(':');
  DType dtype = DType::kFloat32;
  if (colon != word.npos) dtype = parse_dtype(word.substr(colon + 1), word);
  Dims sizes;
  std::string_view rest = std::string_view(word).substr(0, colon);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    int64_t size = 0;
    HOTARU_CHECK_AS(ValueError, read_number(part, &size) && size >= 0,
                    "--shape ", word, ": '", part,
                    "' is no size; write sizes with commas between, such as "
                    "1,512");
    sizes.push_back(size);
  }
  return made_up(sizes, dtype);
}

void Inputs::add_options(const Verb& verb) {
  const auto adder = [this](bool is_shape) {
    return [this, is_shape](const std::string& text) {
      words_.push_back({is_shape, text});
    };
  };
  verb.each("--input", adder(false),
            "An argument: a .npy file, a number, true, false or none")
      .type_name("VALUE");
  verb.each("--shape", adder(true),
            "An argument made up: a random tensor, e.g. 1,512 or 1,77:int64")
      .type_name("SIZES[:DTYPE]");
}

std::vector<Value> Inputs::values() const {
  std::vector<Value> values;
  for (const Word& word : words_)
    values.push_back(word.is_shape ? Value(parse_shape(word.text))
                                   : parse_input(word.text));
  return values;
}

std::vector<Value> Inputs::values_for(const std::string& path) const {
  std::vector<Value> values = this->values();
  const Ref<io::MappedFile> file = io::MappedFile::open(path);
  if (exchange::format_of(file) != exchange::Format::kOnnx) return values;
  const auto types = declared_types(io::onnx::OnnxFile(file));
  for (size_t i = 0; i < std::min(values.size(), types.size()); ++i)
    if (types[i]) values[i] = number_as(*types[i], values[i]);
  return values;
}

}  // namespace hotaru::cli
