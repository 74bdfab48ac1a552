// Operators on lists of tensors: each is an operator on one tensor, called for
// every item. What differs between items comes in lists, the rest is shared.
#include <memory>
#include <sstream>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// An operator on lists and what it calls for each item.
struct Foreach {
  std::string name, overload, schema;
  std::string each, each_overload;
  bool in_place;
};

/// The lengths of the lists must be that of the first one, self or (of a number
/// to powers) the exponents.
size_t common_length(const Value* arguments, size_t n) {
  const std::vector<Value>* first = nullptr;
  for (size_t i = 0; i < n; ++i) {
    if (!arguments[i].is_list()) continue;
    const auto& items = arguments[i].as_list().items;
    // An empty second one of two operands (and a factor) counts as a list of
    // numbers.
    const bool scalars = items.empty()
                             ? n == 2 || (n == 3 && !arguments[2].is_list())
                             : !items[0].is_tensor();
    if (!first) {
      first = &items;
      HOTARU_CHECK(!items.empty(),
                   "Tensor list must have at least one tensor.");
      continue;
    }
    if (items.size() == first->size()) continue;
    HOTARU_CHECK(scalars,
                 "Tensor lists must have the same number of tensors, got ",
                 first->size(), " and ", items.size());
    fail("Tensor list must have same number of elements as scalar list.");
  }
  return first->size();
}

/// The numbers in a tensor of one dimension, one for each item.
Value unpacked(const Tensor& scalars, size_t n) {
  HOTARU_CHECK(scalars.device().is_cpu(), "Expected scalars to be on CPU, got ",
               scalars.device(), " instead.");
  HOTARU_CHECK(scalars.is_contiguous(), "Expected scalars to be contiguous.");
  HOTARU_CHECK(scalars.dim() == 1,
               "Expected packed scalar Tensor to be of dimension 1. Got ",
               scalars.dim(), " instead.");
  HOTARU_CHECK(size_t(scalars.numel()) == n,
               "Expected length of scalars to match input of length ", n,
               " but got ", scalars.numel(), " instead.");
  std::vector<Value> numbers;
  for (const Tensor& number : unbind(scalars, 0))
    numbers.push_back(Value(host_value(number, "a list of scalars")));
  return Value::list(std::move(numbers));
}

/// Where an argument of the operator on lists goes: by its name, else to the
/// same place.
size_t place_of(const Schema& each, const Schema& own, size_t k) {
  const int named = each.find(own.arguments[k].name);
  return named >= 0 ? size_t(named) : k;
}

void call_each(const Callee& callee, Value* arguments, Value* results) {
  const auto& op = *reinterpret_cast<const Foreach*>(callee.function);
  const Registry& registry = Registry::instance();
  const Operator& each = *registry.find(op.each, op.each_overload);
  const Schema& own = registry.find(op.name, op.overload)->schema();
  const size_t given = own.arguments.size();
  const size_t n = common_length(arguments, given);
  for (size_t k = 0; k < given; ++k)
    if (own.arguments[k].name == "scalars" && arguments[k].is_tensor())
      arguments[k] = unpacked(arguments[k].tensor_ref(), n);
  std::vector<Value> out, one(each.schema().arguments.size());
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < one.size(); ++k)
      if (const auto& value = each.schema().arguments[k].default_value)
        one[k] = *value;
      else
        one[k] = Value();
    for (size_t k = 0; k < given; ++k)
      one[place_of(each.schema(), own, k)] =
          arguments[k].is_list() ? arguments[k].as_list().items[i]
                                 : arguments[k];
    Value result;
    each.call(one.data(), &result);
    if (!op.in_place) out.push_back(std::move(result));
  }
  if (!op.in_place) results[0] = Value::list(std::move(out));
}

/// Operators of the same form: their names, what they take besides self, and
/// the overload that each calls. `each` is empty where the name is the same.
struct Row {
  const char *names, *overload, *parameters, *each, *each_overload;
  bool has_in_place = true;
};

constexpr char kUnary[] =
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log "
    "log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt "
    "tan tanh trunc";
constexpr char kOthers[] = ", Tensor[] other";
constexpr char kScalar[] = ", Scalar scalar";
constexpr char kScalars[] = ", Scalar[] scalars";

const Row kRows[] = {
    {kUnary, "", "", "", ""},
    {"add sub", "List", ", Tensor[] other, *, Scalar alpha=1", "", "Tensor"},
    {"mul div", "List", kOthers, "", "Tensor"},
    {"add", "Tensor", ", Tensor other, *, Scalar alpha=1", "", "Tensor"},
    {"mul div", "Tensor", ", Tensor other", "", "Tensor"},
    {"add sub mul div", "Scalar", kScalar, "", "Scalar"},
    {"add sub mul div", "ScalarList", kScalars, "", "Scalar"},
    {"clamp_min clamp_max", "List", kOthers, "", "Tensor"},
    {"clamp_min clamp_max", "Scalar", kScalar, "", ""},
    {"clamp_min clamp_max", "ScalarList", kScalars, "", ""},
    {"maximum", "List", kOthers, "clamp_min", "Tensor"},
    {"maximum", "Scalar", kScalar, "clamp_min", ""},
    {"maximum", "ScalarList", kScalars, "clamp_min", ""},
    {"minimum", "List", kOthers, "clamp_max", "Tensor"},
    {"minimum", "Scalar", kScalar, "clamp_max", ""},
    {"minimum", "ScalarList", kScalars, "clamp_max", ""},
    {"pow", "List", ", Tensor[] exponent", "", "Tensor"},
    {"pow", "Scalar", ", Scalar exponent", "", "Scalar"},
    {"pow", "ScalarList", ", Scalar[] exponent", "", "Scalar"},
    {"lerp", "List", ", Tensor[] tensors1, Tensor[] weights", "", "Tensor"},
    {"lerp", "Scalar", ", Tensor[] tensors1, Scalar weight", "", "Scalar"},
    {"lerp", "ScalarList", ", Tensor[] tensors1, Scalar[] weight", "",
     "Scalar"},
    {"addcmul addcdiv", "Tensor",
     ", Tensor[] tensor1, Tensor[] tensor2, Tensor scalars", "", ""},
    {"addcmul addcdiv", "Scalar",
     ", Tensor[] tensor1, Tensor[] tensor2, Scalar value=1", "", ""},
    {"addcmul addcdiv", "ScalarList",
     ", Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars", "", ""},
    {"max", "", "", "", "", false},
    {"mm", "", ", Tensor[] mat2", "", "", false},
    {"clone", "", ", *, MemoryFormat? memory_format=None", "", "", false},
    {"norm", "Scalar", ", Scalar ord=2, ScalarType? dtype=None",
     "linalg_vector_norm", "", false},
};

/// Operators that exist in place only.
const Row kInPlace[] = {
    {"zero", "", "", "", ""},
    {"copy", "", ", Tensor[] src, bool non_blocking=False", "", ""},
};

/// Kept for as long as the process, as all operators are.
void add(std::unique_ptr<Foreach> op) {
  const char* text = op->schema.c_str();
  Registry::instance().add(
      text, reinterpret_cast<GenericFunction>(op.release()), &call_each);
}

void add_operator(const std::string& name, const Row& row, bool in_place) {
  const std::string each = *row.each ? row.each : name;
  auto op = std::make_unique<Foreach>();
  op->name = "_foreach_" + name + (in_place ? "_" : "");
  op->overload = row.overload;
  op->each = each + (in_place ? "_" : "");
  op->each_overload = row.each_overload;
  if (!in_place && name == "pow" && *row.each_overload)
    op->each_overload = std::string("Tensor_") + row.each_overload;
  op->in_place = in_place;
  op->schema = op->name + (*row.overload ? "." : "") + row.overload +
               (in_place ? "(Tensor(a!)[] self" : "(Tensor[] self") +
               row.parameters + (in_place ? ") -> ()" : ") -> Tensor[]");
  add(std::move(op));
}

template <class F>
void each_name(const char* names, const F& f) {
  std::istringstream words(names);
  for (std::string name; words >> name;) f(name);
}

const bool registered = [] {
  for (const Row& row : kRows)
    each_name(row.names, [&](const std::string& name) {
      add_operator(name, row, false);
      if (row.has_in_place) add_operator(name, row, true);
    });
  for (const Row& row : kInPlace)
    each_name(row.names,
              [&](const std::string& name) { add_operator(name, row, true); });
  // A number to powers.
  add(std::make_unique<Foreach>(Foreach{"_foreach_pow", "ScalarAndTensor",
                                        "_foreach_pow.ScalarAndTensor(Scalar "
                                        "self, Tensor[] exponent) -> Tensor[]",
                                        "pow", "Scalar", false}));
  return true;
}();

}  // namespace
}  // namespace hotaru
