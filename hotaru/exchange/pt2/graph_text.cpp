#include "hotaru/exchange/pt2/graph_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/archive/literal.h"
#include "hotaru/script/builtins/builtins.h"

namespace hotaru::exchange::pt2 {

using Kind = Argument::Kind;

namespace {

// Names that the text itself uses.
constexpr std::string_view kTaken[] = {
    "self",      "torch",        "ops",           "math",
    "CONSTANTS", "annotate",     "fork",          "getattr",
    "hasattr",   "int",          "float",         "bool",
    "str",       "complex",      "isinstance",    "inf",
    "nan",       "infj",         "nanj",          "range",
    "print",     "len",          "min",           "max",
    "abs",       "sum",          "list",          "tuple",
    "dict",      "super",        "zip",           "any",
    "all",       "round",        "pow",           "sorted",
    "divmod",    "ord",          "chr",           "hex",
    "hash",      "enumerate",    "uninitialized", "unchecked_cast",
    "reversed",  "callable",     "Tensor",        "List",
    "Dict",      "Tuple",        "Optional",      "NoneType",
    "device",    "RuntimeError", "__torch__",
};

// Layers whose result depends on the mode of their module, by the names of the
// flags that say so.
constexpr std::pair<std::string_view, std::string_view> kModal[] = {
    {"dropout", "train"},
    {"dropout_", "train"},
    {"feature_dropout", "train"},
    {"feature_dropout_", "train"},
    {"alpha_dropout", "train"},
    {"alpha_dropout_", "train"},
    {"feature_alpha_dropout", "train"},
    {"batch_norm", "training"},
    {"lstm", "train"},
    {"gru", "train"},
    {"rnn_tanh", "train"},
    {"rnn_relu", "train"},
    {"rrelu", "training"},
    {"rrelu_", "training"},
};

constexpr std::string_view kOps = "torch.ops.";

// "torch.ops.aten.add.Tensor" in its parts.
struct Target {
  std::string_view scope, name, overload;
};

Target split(std::string_view target) {
  target.remove_prefix(kOps.size());
  const size_t first = target.find('.');
  const size_t last = target.rfind('.');
  if (first == std::string_view::npos || first == last) return {};
  return {target.substr(0, first), target.substr(first + 1, last - first - 1),
          target.substr(last + 1)};
}

// Tells whether a node gives what the overload takes.
bool fits(const Operator& op, const Node& node) {
  const Schema& schema = op.schema();
  std::vector<bool> given(schema.arguments.size(), false);
  for (const NamedArgument& input : node.inputs) {
    const int at = schema.find(input.name);
    if (at < 0) return false;
    given[size_t(at)] = true;
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i] && !schema.arguments[i].default_value) return false;
  return true;
}

// As the registry and the language have it, or null. Some of PyTorch's names of
// overloads are others here: add.Tensor is add.
const Operator* find_operator(const Target& target, const Node& node) {
  std::string_view overload =
      target.overload == "default" ? std::string_view() : target.overload;
  const std::string name = target.scope == "aten"
                               ? std::string(target.name)
                               : concat(target.scope, "::", target.name);
  const auto& registered = Registry::instance().find(name);
  std::vector<const Operator*> overloads(registered.begin(), registered.end());
  for (const Operator* op : script::find_builtins(name))
    overloads.push_back(op);
  for (std::string_view wanted :
       {overload, overload == "Tensor" ? std::string_view() : overload}) {
    for (const Operator* op : overloads)
      if (op->schema().overload == wanted) return op;
  }
  for (const Operator* op : overloads)
    if (fits(*op, node)) return op;
  return nullptr;
}

}  // namespace

bool is_taken(std::string_view name) {
  return std::find(std::begin(kTaken), std::end(kTaken), name) !=
         std::end(kTaken);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  const bool whole = text.find_first_of(".e") == std::string::npos;
  return whole ? text + "." : text;
}

std::string number_text(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min())
    return concat("(", value + 1, " - 1)");
  return concat(value);
}

GraphText::GraphText(Options options, int indent)
    : options_(std::move(options)), indent_(indent) {}

std::string GraphText::fresh(std::string_view wanted) {
  const bool usable = script::is_identifier(wanted) && !is_taken(wanted);
  std::string stem(usable ? wanted : "_");
  if (usable && used_.insert(stem).second) return stem;
  for (int& next = numbers_[stem];;) {
    std::string name = concat(stem, usable ? "_" : "", next++);
    if (used_.insert(name).second) return name;
  }
}

void GraphText::line(std::string_view text) {
  text_.append(size_t(indent_), ' ');
  text_ += text;
  text_ += '\n';
}

void GraphText::open(std::string_view text) {
  line(text);
  indent_ += 2;
}

void GraphText::close() {
  indent_ -= 2;
}

std::string GraphText::expression(const Argument& argument) const {
  switch (argument.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kTensor:
    case Kind::kSymInt:
    case Kind::kSymFloat:
    case Kind::kSymBool: {
      auto found = scope_.find(argument.text);
      HOTARU_CHECK(found != scope_.end(), "the value '",
                   argument.text.substr(0, 60),
                   "' is used before it is computed");
      return found->second;
    }
    case Kind::kInt:
    case Kind::kDType:
    case Kind::kMemoryFormat:
      return number_text(argument.integer);
    case Kind::kLayout:
      return "0";
    case Kind::kFloat:
      return number_text(argument.real);
    case Kind::kBool:
      return argument.flag ? "True" : "False";
    case Kind::kComplex:
      return concat("complex(", number_text(argument.real), ", ",
                    number_text(argument.imaginary), ")");
    case Kind::kString:
      return script::quoted(argument.text);
    case Kind::kDevice:
      return options_.device.empty()
                 ? concat("torch.device(", script::quoted(argument.text), ")")
                 : options_.device;
    case Kind::kList: {
      std::string out = "[";
      for (size_t i = 0; i < argument.items.size(); ++i)
        out += concat(i > 0 ? ", " : "", expression(argument.items[i]));
      out += "]";
      const bool plain =
          !argument.items.empty() && argument.element != "Optional[Tensor]";
      return plain
                 ? out
                 : concat("annotate(List[", argument.element, "], ", out, ")");
    }
    case Kind::kGraph:
      fail("a graph stands where a value is expected");
    case Kind::kOperator:
      fail("the operator '", argument.text.substr(0, 80),
           "' is an argument, which is not supported");
    case Kind::kObject:
      fail("the program uses the TorchScript object '",
           argument.text.substr(0, 80), "', which is not supported");
    case Kind::kNamed:
      fail("arguments by name stand where a value is expected");
  }
  return {};
}

std::vector<std::string> GraphText::write(
    const Graph& graph, const std::vector<std::string>& inputs) {
  HOTARU_CHECK(graph.inputs.size() == inputs.size(), "a graph of ",
               graph.inputs.size(), " inputs is called with ", inputs.size());
  constexpr int kMaxDepth = 32;
  HOTARU_CHECK(depth_ < kMaxDepth, "graphs stand in each other more than ",
               kMaxDepth, " deep");
  Scope scope;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!graph.inputs[i].text.empty()) scope[graph.inputs[i].text] = inputs[i];
  std::swap(scope, scope_);
  ++depth_;
  for (const Node& node : graph.nodes) write_node(node);
  --depth_;
  std::vector<std::string> outputs;
  for (const Argument& output : graph.outputs)
    outputs.push_back(expression(output));
  std::swap(scope, scope_);
  return outputs;
}

// Names that a node's results get, one for each.
std::string GraphText::bind(const Argument& output) {
  const bool value =
      output.kind == Kind::kTensor || output.kind == Kind::kSymInt ||
      output.kind == Kind::kSymFloat || output.kind == Kind::kSymBool;
  if (!value) return fresh("_");
  std::string name = fresh(output.text);
  scope_[output.text] = name;
  return name;
}

std::vector<std::string> GraphText::results(const Node& node) {
  std::vector<std::string> names;
  for (const Argument& output : node.outputs) {
    if (output.kind != Kind::kList) {
      names.push_back(bind(output));
      continue;
    }
    for (const Argument& item : output.items) names.push_back(bind(item));
  }
  return names;
}

void GraphText::write_node(const Node& node) {
  constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";
  const std::string_view target = node.target;
  if (target.starts_with(kHigherOrder))
    return write_higher_order(node, target.substr(kHigherOrder.size()));
  if (target.starts_with(kOps)) return write_operator(node);
  if (!write_symbolic(node)) ++missing_[node.target];
}

void GraphText::write_operator(const Node& node) {
  const Target target = split(node.target);
  if (target.scope == "aten" &&
      write_special(node, target.name, target.overload))
    return;
  const Operator* op = find_operator(target, node);
  if (!op) {
    ++missing_[concat(
        target.scope, "::", target.name,
        target.overload == "default" ? "" : ".",
        target.overload == "default" ? std::string_view() : target.overload)];
    results(node);  // so that what uses them is looked at, too
    return;
  }
  const std::string spelled =
      target.scope == "aten"
          ? concat("ops.aten.", target.name, ".",
                   op->schema().overload.empty() ? "default"
                                                 : op->schema().overload)
          : concat("ops.", target.scope, ".", target.name);
  write_call(node, concat(spelled, "(", arguments(node, *op), ")"));
}

void GraphText::write_with_effects(const Node& node) {
  HOTARU_CHECK(node.inputs.size() >= 2 && !node.outputs.empty() &&
                   node.inputs[1].value.kind == Kind::kOperator,
               node.target, " takes a token and an operator");
  Node call;
  call.target = node.inputs[1].value.text;
  HOTARU_CHECK(call.target.starts_with(kOps), node.target, ": '",
               call.target.substr(0, 80), "' is no operator");
  call.inputs.assign(node.inputs.begin() + 2, node.inputs.end());
  const Operator* op = find_operator(split(call.target), call);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool known = op && i < op->schema().arguments.size();
    if (call.inputs[i].name.empty()) {
      call.inputs[i].name =
          known ? op->schema().arguments[i].name : concat("argument ", i);
    }
  }
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].kind != Kind::kNone)
      call.outputs.push_back(node.outputs[i]);
  scope_[node.outputs[0].text] = "None";  // the token
  write_operator(call);
}

// A statement that gives the results their names.
void GraphText::write_call(const Node& node, std::string_view call) {
  const bool list =
      node.outputs.size() == 1 && node.outputs[0].kind == Kind::kList;
  const std::vector<std::string> names = results(node);
  if (names.empty()) return line(call);
  std::string left;
  for (size_t i = 0; i < names.size(); ++i)
    left += concat(i > 0 ? ", " : "", names[i]);
  if (list && names.size() == 1) left += ",";
  line(concat(left, " = ", call));
}

// A flag that says what a layer's mode was: its module's, from now on.
std::string GraphText::training_flag(const Node& node,
                                     const NamedArgument& input) const {
  if (input.value.kind != Kind::kBool || !options_.training ||
      input.value.flag != *options_.training)
    return {};
  const std::string_view name = split(node.target).name;
  const bool modal =
      std::any_of(std::begin(kModal), std::end(kModal), [&](const auto& pair) {
        return pair.first == name && pair.second == input.name;
      });
  return modal ? "self.training" : std::string();
}

// By position as long as nothing is left out, then by name.
std::string GraphText::arguments(const Node& node, const Operator& op) {
  const Schema& schema = op.schema();
  std::vector<const NamedArgument*> given(schema.arguments.size());
  for (const NamedArgument& input : node.inputs) {
    const int at = schema.find(input.name);
    if (at >= 0) {
      given[size_t(at)] = &input;
      continue;
    }
    // Arguments that say nothing: pin_memory=False.
    const Argument& value = input.value;
    const bool idle = value.kind == Kind::kNone ||
                      value.kind == Kind::kLayout ||
                      (value.kind == Kind::kBool && !value.flag);
    HOTARU_CHECK(idle, node.target, ": the argument '", input.name,
                 "' is not supported");
  }
  std::string out;
  bool named = false;
  for (size_t i = 0; i < given.size(); ++i) {
    const hotaru::Argument& formal = schema.arguments[i];
    if (!given[i]) {
      HOTARU_CHECK(formal.default_value.has_value(), node.target,
                   ": the argument '", formal.name, "' is missing");
      named = true;
      continue;
    }
    named |= formal.keyword_only;
    std::string text = training_flag(node, *given[i]);
    if (text.empty()) text = expression(given[i]->value);
    out +=
        concat(out.empty() ? "" : ", ", named ? formal.name + "=" : "", text);
  }
  return out;
}

}  // namespace hotaru::exchange::pt2
