// A node as a call of its operator's function.
#include <algorithm>
#include <array>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/onnx/graph_writer.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/script/archive/literal.h"

namespace hotaru::exchange::onnx {

using io::onnx::Attribute;
using script::Function;
using script::Parameter;
using script::TypeKind;
using script::TypePtr;

namespace {

// A last input of that name takes all that follow.
constexpr std::string_view kAll = "all_";
// Names of what a function may ask of a node beside its attributes.
constexpr std::string_view kOutputs = "n_outputs", kOpset = "opset";
// Keywords that begin so ask for the small type of an attribute or an input.
constexpr std::string_view kSmall = "small_";
// Attributes whose numbers are the format's types.
constexpr std::array<std::string_view, 6> kTypes = {
    "to",       "dtype", "output_dtype", "output_datatype", "softmax_precision",
    "precision"};

bool names_type(std::string_view attribute) {
  return std::find(kTypes.begin(), kTypes.end(), attribute) != kTypes.end();
}

bool is_rest(const Parameter& parameter) {
  return !parameter.keyword_only && parameter.name.starts_with(kAll);
}

const Parameter* find_keyword(Function& function, std::string_view name) {
  for (const Parameter& each : function.params())
    if (each.keyword_only && each.name == name) return &each;
  return nullptr;
}

/// `keepdims__0` stands for nodes whose keepdims is 0.
struct Condition {
  std::string_view attribute;
  int64_t value = 0;
};

std::optional<Condition> condition(std::string_view name) {
  if (!name.ends_with("__0") && !name.ends_with("__1")) return std::nullopt;
  return Condition{name.substr(0, name.size() - 3), name.back() - '0'};
}

bool is_one_of(const io::onnx::Node& node,
               std::initializer_list<std::string_view> names) {
  return node.domain.empty() &&
         std::find(names.begin(), names.end(), node.op) != names.end();
}

/// Operators whose first input is data and all others say how.
bool takes_first(const io::onnx::Node& node) {
  return is_one_of(node, {"Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape",
                          "Split", "Expand", "Tile"});
}

bool compares(const io::onnx::Node& node) {
  return is_one_of(
      node, {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"});
}

/// True for a function that takes and gives tensors of known numbers alone.
bool is_of_known(const Function& function) {
  return function.short_name().find("__known") != std::string_view::npos;
}

/// True for a type that a known tensor stands for.
bool takes_tensor(TypePtr type) {
  if (type->kind == TypeKind::kOptional) type = type->item();
  return type->kind == TypeKind::kTensor;
}

/// True for a node whose result can be made on the host without a conversion.
bool gives_known(const io::onnx::Node& node) {
  if (node.op != "Cast") return true;
  const Attribute* to = node.find("to");
  const auto dtype = to ? io::onnx::dtype_of(to->i) : std::nullopt;
  return dtype == DType::kInt64 || dtype == DType::kInt32 ||
         dtype == DType::kBool || dtype == DType::kFloat32;
}

bool is_number(Kind kind) {
  return kind == Kind::kInt || kind == Kind::kInts;
}

/// True if the function knows a node's attribute.
bool knows(Function& function, const std::string& attribute) {
  return find_keyword(function, attribute) ||
         find_keyword(function, attribute + "__0") ||
         find_keyword(function, attribute + "__1");
}

/// True if the node has what the function asks of it by this parameter.
bool has_attribute(const io::onnx::Node& node, const Parameter& parameter) {
  if (parameter.name == kOutputs || parameter.name == kOpset ||
      parameter.name == kDevice)
    return true;
  std::optional<Condition> asked = condition(parameter.name);
  const Attribute* given =
      node.find(asked ? asked->attribute : std::string_view(parameter.name));
  if (!given) return parameter.has_default;
  return !asked || given->i == asked->value;
}

/// True if it gives as many results as it is asked for, in a list.
bool gives_list(Function& function, size_t wanted) {
  return (wanted > 1 || find_keyword(function, kOutputs)) &&
         function.result_type()->kind == TypeKind::kList;
}

std::vector<TypePtr> results_of(Function& function, size_t wanted) {
  TypePtr type = function.result_type();
  if (gives_list(function, wanted)) return std::vector(wanted, type->item());
  if (type->kind == TypeKind::kTuple) return type->items;
  return {type};
}

// Part of a comment at the end of a line.
std::string in_comment(const std::string& name) {
  std::string out;
  for (char c : name.substr(0, 80)) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

}  // namespace

std::optional<GraphWriter::Choice> GraphWriter::choose(
    const Node& node, const std::vector<Operand>& inputs,
    const std::vector<Function*>& functions, std::string& reason) {
  std::optional<Choice> best;
  // Nodes that no function of known numbers fits have another one.
  bool silent = false;
  auto refuse = [&](const auto&... text) {
    if (reason.empty() && !silent) reason = concat(text...);
  };
  for (Function* function : functions) {
    const bool known = is_of_known(*function);
    silent = known;
    Choice choice{.function = function,
                  .results = results_of(*function, node.outputs.size()).size()};
    bool fits = choice.results >= node.outputs.size();
    bool live = false, leads = false;
    if (!fits) refuse("its output ", choice.results, " is not supported");
    for (const Attribute& each : node.attributes) {
      if (!fits || knows(*function, each.name)) continue;
      refuse("attribute '", each.name, "' is not supported");
      fits = false;
    }
    size_t next = 0;
    for (const Parameter& each : function->params()) {
      if (!fits) break;
      if (each.keyword_only) {
        fits = has_attribute(node, each) && fits_tensor(node, each);
        if (!fits) refuse("attribute '", each.name, "' is missing");
        continue;
      }
      auto take = [&](TypePtr type) {
        const Operand operand = next < inputs.size() ? inputs[next] : Operand();
        std::optional<int> price = cost(operand, type);
        if (known && takes_tensor(type) && operand.kind != Kind::kNone) {
          // Lists are better still, where a function takes them.
          const bool list = is_live(operand) && !operand.known;
          price = is_knowable(operand) ? std::optional<int>(list ? 3 : 0)
                                       : std::nullopt;
          live = live || (price && is_live(operand));
          leads = leads || operand.known;
        }
        if (!price) {
          refuse(operand.kind == Kind::kNone ? "input " : "an input of input ",
                 next, " ('", each.name,
                 operand.kind == Kind::kNone ? "') is missing"
                                             : "')'s type is not supported");
          return false;
        }
        choice.cost += *price;
        ++next;
        return true;
      };
      if (!is_rest(each)) {
        fits = take(each.type);
        continue;
      }
      while (fits && next < inputs.size()) fits = take(each.type->item());
    }
    if (fits && next < inputs.size()) {
      refuse("it has ", inputs.size(), " inputs");
      fits = false;
    }
    if (known) {
      fits = fits && live;
      // Where there are known tensors, or a Cast makes one, it stays so.
      choice.cost -= leads ? 10 : node.op == "Cast" ? 4 : 2;
    }
    bool better = !best || choice.cost < best->cost ||
                  (choice.cost == best->cost && choice.results < best->results);
    if (fits && better) best = choice;
  }
  return best;
}

// A tensor of int64 alone can be a number of the host.
bool GraphWriter::fits_tensor(const Node& node, const Parameter& parameter) {
  const Attribute* given = node.find(parameter.name);
  if (!given || given->type != Attribute::Type::kTensor) return true;
  const Operand tensor =
      constant(file_.read(given->tensors[0]), "", ModuleTree::Role::kBuffer);
  return cost(tensor, parameter.type).value_or(kOtherDtype) < kOtherDtype;
}

std::string GraphWriter::attribute_text(const Node& node,
                                        const Attribute& attribute,
                                        const Parameter& parameter) {
  using Type = Attribute::Type;
  TypePtr type = parameter.type->kind == TypeKind::kOptional
                     ? parameter.type->item()
                     : parameter.type;
  auto list = [&](const auto& items, auto make) {
    std::vector<Value> out;
    for (const auto& item : items) out.push_back(make(item));
    return Value::list(std::move(out));
  };
  Value value;
  switch (attribute.type) {
    case Type::kFloat:
      value = double(attribute.f);
      break;
    case Type::kInt:
      value = attribute.i;
      break;
    case Type::kString:
      value = attribute.s;
      break;
    case Type::kFloats:
      value = list(attribute.floats, [](float f) { return Value(double(f)); });
      break;
    case Type::kInts:
      value = list(attribute.ints, [](int64_t i) { return Value(i); });
      break;
    case Type::kStrings:
      value = list(attribute.strings,
                   [](const std::string& s) { return Value(s); });
      break;
    case Type::kTensor: {
      Operand tensor = constant(file_.read(attribute.tensors[0]), "",
                                ModuleTree::Role::kBuffer);
      HOTARU_CHECK(cost(tensor, type), where(node), ": attribute '",
                   attribute.name, "' is no ", type->annotation());
      return argument(tensor, type, tree_);
    }
    default:
      break;
  }
  if (names_type(attribute.name) && value.is_int()) {
    std::optional<DType> dtype = io::onnx::held_dtype(value.as_int());
    HOTARU_CHECK_AS(
        NotImplementedError, dtype, where(node), ": '", attribute.name, "' is ",
        io::onnx::data_type_name(value.as_int()), ", which hotaru has not");
    value = *dtype;
  }
  if (type->kind == TypeKind::kBool && value.is_int())
    value = value.as_int() != 0;
  bool fits = (type->kind == TypeKind::kBool && value.is_bool()) ||
              (type->kind == TypeKind::kInt && value.is_int()) ||
              (type->kind == TypeKind::kFloat && value.is_double()) ||
              (type->kind == TypeKind::kString && value.is_string()) ||
              (type->kind == TypeKind::kList && value.is_list());
  if (fits && value.is_list() && !value.as_list().items.empty()) {
    const Value& first = value.as_list().items[0];
    TypeKind item = type->item()->kind;
    fits = (item == TypeKind::kInt && first.is_int()) ||
           (item == TypeKind::kFloat && first.is_double()) ||
           (item == TypeKind::kString && first.is_string());
  }
  HOTARU_CHECK(fits, where(node), ": attribute '", attribute.name, "' is no ",
               type->annotation());
  return script::literal(value, type, {});
}

std::string GraphWriter::call_text(const Node& node,
                                   const std::vector<Operand>& inputs,
                                   Function& function, int64_t opset) {
  std::string out = concat(function.short_name(), "(");
  auto add = [&](const auto&... text) {
    if (out.back() != '(') out += ", ";
    out += concat(text...);
  };
  const bool known = is_of_known(function);
  const auto given_as = [&](const Operand& operand, TypePtr type) {
    return known && takes_tensor(type) ? known_argument(operand)
                                       : argument(operand, type, tree_);
  };
  size_t next = 0;
  for (const Parameter& each : function.params()) {
    if (is_rest(each)) {
      std::string list;
      while (next < inputs.size()) {
        list += concat(list.empty() ? "" : ", ",
                       given_as(inputs[next++], each.type->item()));
      }
      add("annotate(", each.type->annotation(), ", [", list, "])");
    } else if (!each.keyword_only) {
      add(next < inputs.size() ? given_as(inputs[next], each.type) : "None");
      ++next;
    } else if (each.name == kOutputs) {
      add(each.name, "=", node.outputs.size());
    } else if (each.name.starts_with(kSmall)) {
      const std::string_view of =
          std::string_view(each.name).substr(kSmall.size());
      if (int64_t type = small_type(node, inputs, function, of))
        add(each.name, "=", type);
    } else if (each.name == kOpset && !node.find(kOpset)) {
      add(each.name, "=", opset);
    } else if (each.name == kDevice) {
      add(each.name, "=", kDevice);
    } else if (condition(each.name)) {
      add(each.name, "=True");
    } else if (const Attribute* given = node.find(each.name);
               given && !(names_type(each.name) && given->i == 0)) {
      const bool small = names_type(each.name) && io::onnx::is_small(given->i);
      HOTARU_CHECK_AS(
          NotImplementedError,
          !small || find_keyword(function, concat(kSmall, each.name)),
          where(node), ": '", each.name, "' is ",
          io::onnx::data_type_name(given->i), ", which hotaru has not");
      add(each.name, "=", attribute_text(node, *given, each));
    }
  }
  return out + ")";
}

void GraphWriter::bind_results(const Node& node, Function& function,
                               const std::string& call, Scope& scope,
                               DType numbers) {
  std::vector<TypePtr> types = results_of(function, node.outputs.size());
  const bool list = gives_list(function, node.outputs.size());
  const bool several = list || function.result_type()->kind == TypeKind::kTuple;
  const std::string& name = node.name.empty() ? node.outputs[0] : node.name;
  const std::string comment = concat("  # ", in_comment(name));
  const Operand all = variable(Kind::kTensors);
  if (list) line(concat(all.text, " = ", call, comment));
  std::string names;
  for (size_t i = 0; i < types.size(); ++i) {
    Operand result = variable(kind_of(types[i]));
    result.one = function.short_name().find("__one") != std::string::npos;
    if (is_number(result.kind)) result.dtype = numbers;
    result.known = is_of_known(function) && result.kind == Kind::kTensor;
    HOTARU_CHECK(result.kind != Kind::kMissing, where(node), ": ",
                 function.short_name(), " returns a ", types[i]->annotation());
    names += concat(i ? ", " : "", result.text);
    set(node, i, result, scope);
    if (list) line(concat(result.text, " = ", all.text, "[", i, "]"));
  }
  if (list) return;
  line(concat(names, several && types.size() == 1 ? "," : "", " = ", call,
              comment));
}

int64_t GraphWriter::small_type(const Node& node,
                                const std::vector<Operand>& inputs,
                                Function& function, std::string_view name) {
  if (const Attribute* given = node.find(name))
    return io::onnx::is_small(given->i) ? given->i : 0;
  size_t place = 0;
  for (const Parameter& each : function.params()) {
    if (each.keyword_only) continue;
    if (each.name == name)
      return place < inputs.size() ? inputs[place].small : 0;
    ++place;
  }
  return 0;
}

int64_t GraphWriter::small_result(const Node& node,
                                  const std::vector<Operand>& inputs) {
  const auto of_attribute = [&](std::string_view name) -> int64_t {
    const Attribute* given = node.find(name);
    return given && io::onnx::is_small(given->i) ? given->i : 0;
  };
  const auto of_input = [&](size_t i) -> int64_t {
    return i < inputs.size() ? inputs[i].small : 0;
  };
  if (node.op == "Cast") return of_attribute("to");
  if (node.op == "CastLike") return of_input(1);
  if (node.op == "QuantizeLinear") {
    const int64_t zero = of_input(2);
    return zero != 0 ? zero : of_attribute("output_dtype");
  }
  return is_one_of(node,
                   {"Concat", "Expand", "Flatten", "Gather", "Pad", "Reshape",
                    "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"})
             ? of_input(0)
             : 0;
}

std::optional<DType> GraphWriter::common_dtype(
    const std::vector<Operand>& inputs) const {
  std::optional<DType> dtype;
  for (const Operand& each : inputs)
    if (is_number(each.kind)) dtype = each.dtype;
  for (const Operand& each : inputs) {
    const bool fits = is_number(each.kind) ? each.dtype == dtype
                                           : dtype && is_short(each, *dtype);
    if (!fits) return std::nullopt;
  }
  return dtype;
}

std::optional<DType> GraphWriter::other_numbers(const Node& node,
                                                std::vector<Operand>& inputs) {
  auto is_other = [](const Operand& each) { return each.is_other(); };
  if (std::none_of(inputs.begin(), inputs.end(), is_other)) return std::nullopt;
  const auto to_host = [&](Operand& each) {
    if (each.constant && each.constant->tensor.dtype() != DType::kInt64)
      each = constant(to(each.constant->tensor, DType::kInt64), "",
                      ModuleTree::Role::kBuffer);
  };
  if (takes_first(node)) {
    if (!inputs[0].is_other()) return std::nullopt;
    for (Operand& each : inputs)
      if (is_short(each, DType::kInt32)) to_host(each);
    return inputs[0].dtype;
  }
  const bool chooses = is_one_of(node, {"Where"});
  if (chooses && (inputs.size() != 3 || !is_number(inputs[0].kind) ||
                  inputs[0].dtype != DType::kBool))
    return std::nullopt;
  if (!chooses && !compares(node) &&
      !is_one_of(node, {"Add", "Sub", "Mul", "Div", "Neg", "Min", "Max", "Mod",
                        "Concat"}))
    return std::nullopt;
  const std::vector<Operand> data(inputs.begin() + (chooses ? 1 : 0),
                                  inputs.end());
  std::optional<DType> dtype = common_dtype(data);
  // Truths choose between constants, too.
  auto is_shape = [](const Operand& each) {
    return is_short(each, DType::kInt64);
  };
  if (!dtype && chooses && std::all_of(data.begin(), data.end(), is_shape))
    dtype = DType::kInt64;
  if (!dtype) return std::nullopt;
  for (Operand& each : inputs) to_host(each);
  return compares(node) ? DType::kBool : *dtype;
}

void GraphWriter::to_tensors(const Node& node, std::vector<Operand>& inputs) {
  const size_t data = takes_first(node) ? 1 : inputs.size();
  for (size_t i = 0; i < std::min(data, inputs.size()); ++i) {
    if (!inputs[i].is_other()) continue;
    inputs[i] = {.kind = Kind::kTensor,
                 .text = known_argument(inputs[i]),
                 .known = true};
  }
}

// A domain that the file forgot is taken as the newest.
int64_t GraphWriter::opset_of(const Node& node, const Scope& scope) {
  auto domain = scope.opsets->find(node.domain);
  return domain == scope.opsets->end() ? 1000 : domain->second;
}

std::string GraphWriter::full_name(const Node& node) {
  return concat(node.domain, node.domain.empty() ? "" : ".", node.op);
}

std::vector<Function*> GraphWriter::functions_of(const Node& node,
                                                 const Scope& scope,
                                                 bool known) {
  constexpr std::array<std::string_view, 4> kDomains = {
      "", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"};
  if (node.domain == "com.microsoft")
    return operators_.find(concat(kMicrosoft, node.op), opset_of(node, scope));
  const bool ours = std::find(kDomains.begin(), kDomains.end(), node.domain) !=
                    kDomains.end();
  if (!ours) return {};
  return operators_.find(node.op, opset_of(node, scope), known);
}

void GraphWriter::write_call(const Node& node, Scope& scope) {
  const int64_t opset = opset_of(node, scope);
  std::vector<Function*> functions = functions_of(node, scope);
  if (functions.empty()) {
    ++missing_[full_name(node)];
    for (size_t i = 0; i < node.outputs.size(); ++i)
      set(node, i, {.kind = Kind::kMissing}, scope);
    return;
  }
  std::vector<Operand> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(input(node, i, scope));
  while (!inputs.empty() && inputs.back().kind == Kind::kNone)
    inputs.pop_back();
  HOTARU_CHECK(!node.outputs.empty(), where(node), ": has no output");
  const auto is_number_here = [](const Operand& each) {
    return is_live(each) && is_knowable(each);
  };
  if (gives_known(node) &&
      std::any_of(inputs.begin(), inputs.end(), is_number_here))
    functions = functions_of(node, scope, true);
  std::string reason;
  std::vector<Operand> numbers = inputs;
  if (const auto dtype = other_numbers(node, numbers)) {
    const auto kept = choose(node, numbers, functions, reason);
    if (kept && is_number(kind_of(
                    results_of(*kept->function, node.outputs.size())[0]))) {
      return bind_results(node, *kept->function,
                          call_text(node, numbers, *kept->function, opset),
                          scope, *dtype);
    }
    reason.clear();
  }
  to_tensors(node, inputs);
  std::optional<Choice> choice = choose(node, inputs, functions, reason);
  HOTARU_CHECK_AS(NotImplementedError, choice, where(node), ", opset ", opset,
                  ": ", reason);
  bind_results(node, *choice->function,
               call_text(node, inputs, *choice->function, opset), scope,
               compares(node) ? DType::kBool : DType::kInt64);
  if (const int64_t small = small_result(node, inputs)) {
    for (const std::string& name : node.outputs)
      if (!name.empty()) scope.values[name].small = small;
  }
}

}  // namespace hotaru::exchange::onnx
