#include "hotaru/script/archive/op_spelling.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hotaru/core/printing/concat.h"

namespace hotaru::script {

namespace {

struct Spelling {
  std::string_view name;
  std::string_view text;
};

// The language's functions, and names that only Python knows.
constexpr Spelling kSpellings[] = {
    {"Int", "int"},
    {"Float", "float"},
    {"Bool", "bool"},
    {"str", "str"},
    {"sorted", "sorted"},
    {"ndimension", "torch.dim"},
    {"nelement", "torch.numel"},
};

// Methods that PyTorch's source spells as torch.to(x, number).
constexpr std::pair<std::string_view, DType> kCasts[] = {
    {"byte", DType::kUInt8},       {"char", DType::kInt8},
    {"short", DType::kInt16},      {"int", DType::kInt32},
    {"long", DType::kInt64},       {"half", DType::kFloat16},
    {"float", DType::kFloat32},    {"double", DType::kFloat64},
    {"cfloat", DType::kComplex64}, {"cdouble", DType::kComplex128},
    {"bool", DType::kBool},        {"bfloat16", DType::kBFloat16},
};

// In PyTorch's namespace prim whatever the overload.
constexpr std::string_view kPrim[] = {
    "awaitable_wait", "awaitable_nowait", "NumToTensor",  "dtype",
    "is_cpu",         "is_cuda",          "is_meta",      "is_mkldnn",
    "is_mps",         "is_nested",        "is_quantized", "is_sparse",
    "is_xpu",         "itemsize",         "layout",       "nbytes",
    "requires_grad",
};

// And where the first argument is no tensor, or the only one is.
constexpr std::string_view kPrimOfNumbers[] = {"abs", "max", "min"};
constexpr std::string_view kPrimOfDevices[] = {"type", "index"};

constexpr std::string_view kTakeNumbers[] = {
    "add",
    "sub",
    "rsub",
    "mul",
    "div",
    "true_divide",
    "floor_divide",
    "remainder",
    "fmod",
    "pow",
    "float_power",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "copy_",
    "fill_",
    "masked_fill",
    "where",
    "__and__",
    "__or__",
    "__xor__",
    "xlogy",
    "__lshift__",
    "__rshift__",
    "bitwise_left_shift",
    "bitwise_right_shift",
};

constexpr std::string_view kTakeNumberFirst[] = {
    "pow",         "float_power", "remainder",   "xlogy",
    "bitwise_and", "bitwise_or",  "bitwise_xor",
};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

bool is_prim(const Operator& op) {
  std::string_view name = op.name();
  const std::vector<Argument>& arguments = op.schema().arguments;
  if (contains(kPrim, name)) return true;
  if (arguments.empty()) return false;
  std::string_view first = arguments[0].type.text;
  if (name == "device") return first == "Tensor";
  if (contains(kPrimOfDevices, name)) return first == "Device";
  return contains(kPrimOfNumbers, name) && first != "Tensor";
}

std::string op_spelling(const Operator& op) {
  std::string_view name = op.name();
  for (const Spelling& spelling : kSpellings)
    if (spelling.name == name) return std::string(spelling.text);
  if (const size_t at = name.find("::"); at != std::string_view::npos)
    return concat("ops.", name.substr(0, at), ".", name.substr(at + 2));
  return concat(is_prim(op) ? "ops.prim." : "torch.", name);
}

std::optional<DType> cast_target(const Operator& op) {
  if (op.schema().overload != "cast") return {};
  for (const auto& [name, dtype] : kCasts)
    if (op.name() == name) return dtype;
  return {};
}

bool takes_number(const Operator& op, size_t position) {
  std::string_view name = op.name();
  if (position == 0) return contains(kTakeNumberFirst, name);
  if (contains(kTakeNumbers, name)) return true;
  if (name.ends_with("_") && !name.ends_with("__")) name.remove_suffix(1);
  return contains(kTakeNumbers, name);
}

bool wants_dtype(const Operator& op) {
  return op.name() == "index_put_" || op.name() == "index_put";
}

bool names_all(const Operator& op) {
  return op.name() == "as_tensor";
}

}  // namespace hotaru::script
