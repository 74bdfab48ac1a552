#include "hotaru/exchange/onnx_out/exporter.h"

#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::exchange::onnx_out {

using script::NodeKind;
using script::TypeKind;

namespace {

constexpr int kMaxCalls = 200;
// Nodes that are followed, rounds of loops counted.
constexpr int64_t kMaxSteps = 2'000'000;

bool is_a(const Symbol& symbol, script::TypePtr type) {
  switch (type->kind) {
    case TypeKind::kAny:
      return true;
    case TypeKind::kTensor:
      return symbol.is_tensor();
    case TypeKind::kList:
      return symbol.is_list();
    case TypeKind::kTuple:
      return symbol.is_tuple();
    case TypeKind::kDict:
      return symbol.kind == Symbol::Kind::kDict;
    case TypeKind::kOptional:
      return symbol.is_none() || is_a(symbol, type->item());
    case TypeKind::kUnion:
      for (script::TypePtr item : type->items)
        if (is_a(symbol, item)) return true;
      return false;
    default:
      break;
  }
  if (symbol.is_host()) return script::value_matches(symbol.host, type);
  return symbol.is_number() &&
         script::value_matches(symbol.number->first, type);
}

}  // namespace

Symbol Exporter::call(script::Function& function,
                      std::vector<Symbol> arguments) {
  HOTARU_CHECK_AS(NotImplementedError, ++calls_ <= kMaxCalls,
                  "functions call each other more than ", kMaxCalls,
                  " levels deep: ONNX has no recursion");
  const script::Graph& graph = function.graph();
  Frame frame;
  const auto& params = graph.top().params;
  HOTARU_CHECK(arguments.size() == params.size(),
               "internal error: a call with another number of arguments");
  for (size_t i = 0; i < params.size(); ++i)
    frame[params[i]] = std::move(arguments[i]);
  Exit exit = run(graph.top().first, frame, nullptr);
  --calls_;
  HOTARU_CHECK_AS(ValueError, exit.kind != Exit::Kind::kRaise,
                  "with these arguments the program raises ", exit.message);
  return exit.values.empty() ? Symbol() : std::move(exit.values[0]);
}

const Symbol& Exporter::at(const Frame& frame, const Var* var) const {
  auto found = frame.find(var);
  HOTARU_CHECK(found != frame.end(), "internal error: variable '", var->name,
               "' has no value");
  return found->second;
}

std::vector<Symbol> Exporter::inputs(const Node& node,
                                     const Frame& frame) const {
  std::vector<Symbol> out;
  out.reserve(node.inputs.size());
  for (const Var* var : node.inputs) out.push_back(at(frame, var));
  return out;
}

Exporter::Exit Exporter::run(const Node* node, Frame& frame, const Rest* rest) {
  std::deque<Rest> rests;
  while (node) {
    HOTARU_CHECK_AS(NotImplementedError, ++steps_ <= kMaxSteps,
                    "the program takes more than ", kMaxSteps, " steps");
    switch (node->kind) {
      case NodeKind::kYield: {
        std::vector<Symbol> values = inputs(*node, frame);
        if (!rest) return {.kind = Exit::Kind::kYield, .values = values};
        for (size_t i = 0; i < values.size(); ++i)
          frame[rest->branch->out(i)] = values[i];
        node = rest->branch->next;
        rest = rest->outer;
        continue;
      }
      case NodeKind::kReturn:
        return {.kind = Exit::Kind::kReturn, .values = inputs(*node, frame)};
      case NodeKind::kBreak:
      case NodeKind::kContinue:
        return {.kind = Exit::Kind::kEnd,
                .values = inputs(*node, frame),
                .again = Value(node->kind == NodeKind::kContinue)};
      case NodeKind::kRaise: {
        const Symbol& text = at(frame, node->in(0));
        const bool known = text.is_host() && text.host.is_string();
        return {.kind = Exit::Kind::kRaise,
                .message = known ? text.host.as_string() : "an error"};
      }
      case NodeKind::kUnreachable:
        return {.kind = Exit::Kind::kRaise, .message = "an error"};
      case NodeKind::kIf: {
        const Node* taken = nullptr;
        bool inside = false;
        if (std::optional<Exit> exit =
                branch(*node, frame, rest, taken, inside))
          return std::move(*exit);
        if (inside) rest = &rests.emplace_back(Rest{node, rest});
        node = taken;
        continue;
      }
      case NodeKind::kLoop:
      case NodeKind::kWhile:
        if (std::optional<Exit> exit = loop(*node, frame))
          return std::move(*exit);
        break;
      default:
        step(*node, frame);
    }
    node = node->next;
  }
  return {};
}

void Exporter::step(const Node& node, Frame& frame) {
  auto set = [&](Symbol value) { frame[node.out()] = std::move(value); };
  switch (node.kind) {
    case NodeKind::kConstant:
      return set(symbol_of(node.value));
    case NodeKind::kOp:
      return call_operator(node, frame);
    case NodeKind::kCall:
    case NodeKind::kFork:
      return set(call(*node.callee, inputs(node, frame)));
    case NodeKind::kCallMethod:
      return set(call_method(node, inputs(node, frame)));
    case NodeKind::kGetAttr:
      return get_attribute(node, frame);
    case NodeKind::kSetAttr:
      return set_attribute(node, frame);
    case NodeKind::kTuple:
      return set(Symbol::tuple_of(inputs(node, frame)));
    case NodeKind::kList:
      return set(Symbol::list_of(inputs(node, frame), emitter_.depth()));
    case NodeKind::kTupleUnpack:
    case NodeKind::kListUnpack: {
      const Symbol from = at(frame, node.in(0));
      HOTARU_CHECK_AS(NotImplementedError,
                      !from.is_host() && !from.is_sequence() &&
                          from.items().size() == node.outputs.size(),
                      "unpacking what is no list or tuple of ",
                      node.outputs.size(), " values");
      for (size_t i = 0; i < node.outputs.size(); ++i)
        frame[node.out(i)] = from.items()[i];
      return;
    }
    case NodeKind::kTupleIndex:
      return set(at(frame, node.in(0)).items().at(size_t(node.index)));
    case NodeKind::kDict: {
      Symbol out;
      out.kind = Symbol::Kind::kDict;
      out.dict = std::make_shared<Dict>();
      const std::vector<Symbol> items = inputs(node, frame);
      for (size_t i = 0; i + 1 < items.size(); i += 2) {
        HOTARU_CHECK_AS(NotImplementedError, items[i].is_host(),
                        "a dict whose keys depend on inputs");
        out.dict->emplace_back(items[i].host, items[i + 1]);
      }
      return set(std::move(out));
    }
    case NodeKind::kCreate:
      objects_.push_back(Value(script::make_instance(*node.type->cls)));
      return set(objects_.back());
    case NodeKind::kCast:
      return set(at(frame, node.in(0)));
    case NodeKind::kIsInstance: {
      bool found = false;
      for (script::TypePtr type : node.types)
        found = found || is_a(at(frame, node.in(0)), type);
      return set(Value(found));
    }
    case NodeKind::kIs: {
      const Symbol& a = at(frame, node.in(0));
      const Symbol& b = at(frame, node.in(1));
      const bool same = a.is_tensor() && b.is_tensor()
                            ? a.cell == b.cell
                            : a.is_host() && b.is_host() && a.host.is(b.host);
      return set(Value(same != (node.index != 0)));
    }
    case NodeKind::kFormat:
      // Texts end in errors and prints, which a graph has not.
      return set(Value("..."));
    case NodeKind::kPrint:
      return;
    // The methods are calls of their own; these say what to leave after errors.
    case NodeKind::kEnter:
    case NodeKind::kExit:
      return;
    default:
      fail<NotImplementedError>(script::kind_name(node),
                                " has no form in an ONNX graph");
  }
}

Symbol Exporter::call_method(const Node& node, std::vector<Symbol> arguments) {
  script::ClassType* cls =
      arguments[0].is_host() ? script::class_of(arguments[0].host) : nullptr;
  script::Function* method = cls ? cls->find_method(node.name) : nullptr;
  HOTARU_CHECK_AS(NotImplementedError, method, "a method '", node.name,
                  "' of an object that depends on inputs");
  return call(*method, std::move(arguments));
}

void Exporter::get_attribute(const Node& node, Frame& frame) {
  const Symbol& object = at(frame, node.in(0));
  HOTARU_CHECK_AS(NotImplementedError,
                  object.is_host() && object.host.is_instance(),
                  "an attribute of an object that depends on inputs");
  const InstanceObject& instance = object.host.as_instance();
  const script::ClassType* cls = script::class_of(object.host);
  // Behind an interface the class knows where its attribute is.
  size_t slot = size_t(node.index);
  if (cls) {
    const int found = cls->find_attribute(node.name);
    if (found >= 0) slot = size_t(found);
  }
  auto known = slots_.find({&instance, slot});
  if (known == slots_.end()) {
    known = slots_
                .emplace(std::make_pair(&instance, slot),
                         symbol_of(instance.slots.at(slot)))
                .first;
  }
  frame[node.out()] = known->second;
}

void Exporter::set_attribute(const Node& node, Frame& frame) {
  const Symbol& object = at(frame, node.in(0));
  HOTARU_CHECK_AS(NotImplementedError,
                  object.is_host() && object.host.is_instance(),
                  "an attribute of an object that depends on inputs");
  HOTARU_CHECK_AS(NotImplementedError, scopes_.empty(),
                  "an attribute is set in a branch or loop that the graph "
                  "keeps: '",
                  node.name, "'");
  const InstanceObject& instance = object.host.as_instance();
  const script::ClassType* cls = script::class_of(object.host);
  const Symbol value = at(frame, node.in(1));
  HOTARU_CHECK_AS(NotImplementedError,
                  !cls || !cls->is_module() || value.known(),
                  "the module keeps a tensor from call to call in '", node.name,
                  "', which an ONNX graph cannot: give and return it");
  const int found = cls ? cls->find_attribute(node.name) : -1;
  const size_t slot = found >= 0 ? size_t(found) : size_t(node.index);
  slots_[{&instance, slot}] = value;
}

}  // namespace hotaru::exchange::onnx_out
