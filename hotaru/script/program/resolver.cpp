#include "hotaru/script/program/resolver.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numbers>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/rare.h"
#include "hotaru/script/compile/annotation.h"
#include "hotaru/script/program/unit.h"

namespace hotaru::script {

namespace {

using Kind = Meaning::Kind;

// Names with a syntax of their own; compile_special.cpp gives them meaning.
constexpr std::array<std::string_view, 23> kSpecials = {
    "annotate", "unchecked_cast", "uninitialized", "isinstance", "getattr",
    "hasattr",  "range",          "enumerate",     "zip",        "fork",
    "print",    "tuple",          "list",          "dict",       "super",
    "int",      "float",          "bool",          "str",        "complex",
    "reversed", "callable",       "awaitable",
};

// Python's functions that are operators of the same name.
constexpr std::array<std::string_view, 17> kBuiltins = {
    "len",    "min", "max", "abs", "sum", "sorted", "any", "all",  "round",
    "divmod", "ord", "chr", "pow", "hex", "oct",    "bin", "hash",
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::pair<std::string_view, double> kNumbers[] = {
    {"inf", kInfinity},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"pi", std::numbers::pi},
    {"e", std::numbers::e},
    {"tau", 2 * std::numbers::pi},
};

// Second names of dtypes.
constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"short", DType::kInt16},        {"int", DType::kInt32},
    {"long", DType::kInt64},         {"half", DType::kFloat16},
    {"float", DType::kFloat32},      {"double", DType::kFloat64},
    {"chalf", DType::kComplex32},    {"cfloat", DType::kComplex64},
    {"cdouble", DType::kComplex128},
};

// Memory formats and layouts, by PyTorch's numbers.
constexpr std::pair<std::string_view, int64_t> kIntegers[] = {
    {"contiguous_format", 0}, {"preserve_format", 1}, {"channels_last", 2},
    {"channels_last_3d", 3},  {"strided", 0},         {"sparse_coo", 1},
    {"sparse_csr", 2},        {"_mkldnn", 3},         {"sparse_csc", 4},
    {"sparse_bsr", 5},        {"sparse_bsc", 6},      {"jagged", 7},
};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

Meaning make(Kind kind, std::string_view text) {
  return {.kind = kind, .text = std::string(text)};
}

Meaning constant(Value value) {
  return {.kind = Kind::kValue, .value = std::move(value)};
}

Meaning number(std::string_view name) {
  for (const auto& [known, value] : kNumbers)
    if (name == known) return constant(value);
  return {};
}

Meaning torch_attribute(std::string_view name) {
  for (const auto& [known, dtype] : kDTypes)
    if (name == known) return constant(dtype);
  for (const DType dtype : kAllDTypes)
    if (name == dtype_name(dtype)) return constant(dtype);
  for (const auto& [known, value] : kIntegers)
    if (name == known) return constant(value);
  if (Meaning known = number(name); known.kind != Kind::kUnknown) return known;
  constexpr std::array<std::string_view, 6> kNamespaces = {
      "nn", "jit", "_C", "_jit_internal", "special", "linalg"};
  if (name == "ops") return make(Kind::kNamespace, "ops");
  if (name == "classes")
    return make(Kind::kNamespace, "__torch__.torch.classes");
  if (contains(kNamespaces, name))
    return make(Kind::kNamespace, concat("torch.", name));
  if (name == "Tensor")
    return {.kind = Kind::kType, .type = TypeTable::tensor()};
  return make(Kind::kBuiltin, name);
}

}  // namespace

int64_t ArchiveResolver::version() const {
  return unit_.origin() ? unit_.origin()->version : Resolver::version();
}

Meaning ArchiveResolver::name(std::string_view name) const {
  constexpr std::array<std::string_view, 4> kNamespaces = {"torch", "ops",
                                                           "__torch__", "math"};
  if (contains(kNamespaces, name)) return make(Kind::kNamespace, name);
  if (name == "CONSTANTS") return make(Kind::kConstants, name);
  if (contains(kSpecials, name)) return make(Kind::kSpecial, name);
  if (contains(kBuiltins, name)) return make(Kind::kBuiltin, name);
  if (name == "infj" || name == "nanj") {
    return constant(std::complex<double>(
        0,
        name == "infj" ? kInfinity : std::numeric_limits<double>::quiet_NaN()));
  }
  if (name == "inf" || name == "nan") return number(name);
  if (name == "NoneType")
    return {.kind = Kind::kType, .type = TypeTable::none()};
  if (name == "Tensor")
    return {.kind = Kind::kType, .type = TypeTable::tensor()};
  // Exceptions are raised by name.
  if (name.ends_with("Error") || name == "Exception" || name == "StopIteration")
    return make(Kind::kSpecial, name);
  return {};
}

Meaning ArchiveResolver::attribute(const Meaning& parent,
                                   std::string_view name) const {
  if (parent.kind == Kind::kConstants) {
    size_t index = 0;
    const char* end = name.data() + name.size();
    if (name.size() < 2 || name[0] != 'c' ||
        std::from_chars(name.data() + 1, end, index).ptr != end ||
        index >= unit_.constants().size()) {
      fail("CONSTANTS.", name, ": the archive has ", unit_.constants().size(),
           " constants");
    }
    return constant(unit_.constants()[index]);
  }
  const std::string& scope = parent.text;
  if (scope == "torch") return torch_attribute(name);
  if (scope == "math") {
    Meaning known = number(name);
    if (known.kind != Kind::kUnknown) return known;
    return make(Kind::kBuiltin, name == "remainder" ? "mathremainder" : name);
  }
  if (scope == "ops") return make(Kind::kNamespace, concat("ops.", name));
  if (scope == "ops.prim") {
    if (contains(kSpecials, name)) return make(Kind::kSpecial, name);
    return name == "RaiseException" ? make(Kind::kSpecial, name)
                                    : make(Kind::kBuiltin, name);
  }
  if (scope == "ops.aten" || scope == "torch._C")
    return make(Kind::kBuiltin, name);
  if (scope == "torch.jit" || scope == "torch._jit_internal") {
    if (name == "fork" || name == "_fork") return make(Kind::kSpecial, "fork");
    if (name == "wait" || name == "_wait") return make(Kind::kBuiltin, "wait");
    if (name == "_awaitable") return make(Kind::kSpecial, "awaitable");
    if (name == "_awaitable_wait" || name == "_awaitable_nowait")
      return make(Kind::kBuiltin, name.substr(1));
    if (name == "is_scripting") return make(Kind::kBuiltin, "is_scripting");
    return contains(kSpecials, name) ? make(Kind::kSpecial, name) : Meaning{};
  }
  if (scope == "torch.special" || scope == "torch.linalg") {
    return make(Kind::kBuiltin,
                concat(std::string_view(scope).substr(6), "_", name));
  }
  if (scope == "torch.nn") {
    return name == "functional" ? make(Kind::kNamespace, "torch.nn.functional")
                                : Meaning{};
  }
  if (scope == "torch.nn.functional") return make(Kind::kBuiltin, name);
  if (scope.starts_with("ops.")) {
    return make(Kind::kBuiltin,
                concat(std::string_view(scope).substr(4), "::", name));
  }
  if (!scope.starts_with("__torch__")) return {};
  std::string qualified = concat(scope, ".", name);
  if (TypePtr type = unit_.find_type(qualified))
    return {.kind = Kind::kType, .text = qualified, .type = type};
  if (Function* function = unit_.find_function(qualified))
    return {.kind = Kind::kFunction, .text = qualified, .function = function};
  return make(Kind::kNamespace, qualified);
}

}  // namespace hotaru::script
