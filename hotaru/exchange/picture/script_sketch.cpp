#include "hotaru/exchange/picture/script_sketch.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/exchange/error_block.h"
#include "hotaru/exchange/picture/paths.h"
#include "hotaru/script/ir/ir.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/source/script_error.h"

namespace hotaru::exchange {
namespace {

using script::Block;
using script::Function;
using script::Node;
using script::NodeKind;
using script::TypeKind;
using script::Var;

constexpr size_t kMaxScriptCalls = 100'000, kMaxSteps = 1'000'000;
constexpr size_t kMaxScriptDepth = 100;
// Values and weights that one variable is followed to, and its parts.
constexpr size_t kMaxSources = 64, kMaxParts = 4096;

/// Knowledge of a variable.
struct Entry {
  /// The values of the sketch that it is made of.
  std::vector<std::string> values = {};
  std::vector<SketchWeight> weights = {};
  std::optional<Value> known = {};
  std::string module = {};  // of a module: "layers.0"
  /// Items of a tuple or list, and how many parts there are in all.
  std::vector<Entry> items = {};
  size_t parts = 1;
};
using Frame = std::unordered_map<const Var*, Entry>;

bool holds_tensors(script::TypePtr type) {
  if (type->kind == TypeKind::kTensor) return true;
  return std::any_of(type->items.begin(), type->items.end(), holds_tensors);
}

bool is_container(script::TypePtr type) {
  return type->kind == TypeKind::kList || type->kind == TypeKind::kDict;
}

/// Operators that put tensors into lists and dicts, and take them out.
bool moves_items(const Node& node) {
  static const std::set<std::string_view> kNames = {
      "__getitem__", "_set_item", "append", "extend", "insert", "pop",
      "list",        "copy",      "slice",  "keys",   "values", "items",
      "get",         "update",    "add",    "add_",   "dict",   "setdefault"};
  return !node.inputs.empty() && is_container(node.in(0)->type) &&
         kNames.count(node.op->name()) != 0;
}

SketchWeight weight_of(std::string name, const Tensor& tensor) {
  const double elements = double(tensor.numel());
  return {std::move(name),
          concat(dtype_name(tensor.dtype()), shape_text(tensor.sizes())),
          elements, elements * double(itemsize(tensor.dtype()))};
}

/// Adds what `from` and its parts are made of.
void collect(const Entry& from, Entry& into) {
  for (const std::string& value : from.values) {
    const auto& known = into.values;
    if (known.size() < kMaxSources &&
        std::find(known.begin(), known.end(), value) == known.end())
      into.values.push_back(value);
  }
  for (const SketchWeight& weight : from.weights) {
    const auto same = [&](const SketchWeight& w) {
      return w.name == weight.name;
    };
    if (into.weights.size() < kMaxSources &&
        std::none_of(into.weights.begin(), into.weights.end(), same))
      into.weights.push_back(weight);
  }
  for (const Entry& item : from.items) collect(item, into);
}

class ScriptSketcher {
 public:
  Sketch run(const script::Module& module, Function& function) {
    Sketch out{.title = function.name()};
    const auto& params = function.params();
    std::vector<Entry> arguments;
    Entry self;
    self.known = Value(module.object());
    arguments.push_back(std::move(self));
    for (size_t i = 1; i < params.size(); ++i) {
      const std::string value = fresh();
      out.inputs.push_back({params[i].name, params[i].type->str(), value});
      arguments.push_back(Entry{.values = {value}});
    }
    calls_ = &out.calls;
    const Entry result = call(function, std::move(arguments), "");
    add_outputs(result, "", out);
    // Programs of other formats are one module's code.
    if (!nested_) guess_paths(out.calls);
    return out;
  }

 private:
  static void add_outputs(const Entry& result, const std::string& index,
                          Sketch& out) {
    for (size_t i = 0; i < result.items.size(); ++i)
      add_outputs(result.items[i], concat(index, "[", i, "]"), out);
    if (!result.items.empty()) return;
    for (const std::string& value : result.values)
      out.outputs.push_back({"output" + index, "", value});
  }

  std::string fresh() { return concat("%", ++values_); }

  SketchCall& emit(std::string name, const std::string& module) {
    HOTARU_CHECK(++made_ <= kMaxScriptCalls, "a picture of more than ",
                 kMaxScriptCalls, " calls");
    nested_ = nested_ || !module.empty();
    return calls_->emplace_back(
        SketchCall{.path = split_path(module), .name = std::move(name)});
  }

  // -- functions --------------------------------------------------------------

  Entry call(Function& function, std::vector<Entry> arguments,
             const std::string& module) {
    // A function that calls itself is followed once.
    const bool again = !active_.insert(&function).second;
    if (again || active_.size() > kMaxScriptDepth) {
      if (!again) active_.erase(&function);
      return opaque(std::string(function.short_name()), arguments, module);
    }
    Entry out;
    try {
      const script::Graph& graph = function.graph();
      Frame frame;
      const auto& params = graph.top().params;
      for (size_t i = 0; i < std::min(params.size(), arguments.size()); ++i)
        frame[params[i]] = arguments[i];
      std::vector<Entry> results;
      std::swap(results, returned_);
      walk(graph.top(), module, frame);
      std::swap(results, returned_);
      out = joined(std::move(results), module);
    } catch (const script::ScriptError& error) {
      const std::string text = error.what();
      out = opaque(std::string(function.short_name()), arguments, module);
      calls_->back().result = text.substr(0, text.find('\n'));
    }
    active_.erase(&function);
    return out;
  }

  /// One of several returns is taken.
  Entry joined(std::vector<Entry> results, const std::string& module) {
    if (results.empty()) return {};
    if (results.size() == 1) return std::move(results[0]);
    SketchCall& call = emit("return", module);
    for (const Entry& result : results) give(result, call);
    Entry out{.values = {fresh()}};
    call.outputs = out.values;
    return out;
  }

  static void give(const Entry& entry, SketchCall& call) {
    Entry all;
    collect(entry, all);
    call.inputs.insert(call.inputs.end(), all.values.begin(), all.values.end());
    call.weights.insert(call.weights.end(), all.weights.begin(),
                        all.weights.end());
  }
  Entry call_node(const Node& node, const std::string& module, Frame& frame) {
    std::vector<Entry> arguments;
    for (const Var* input : node.inputs) arguments.push_back(frame[input]);
    Function* callee = node.callee;
    const Entry* self = arguments.empty() ? nullptr : &arguments[0];
    const bool of_object = self && self->known && self->known->is_instance();
    script::ClassType* cls =
        of_object ? script::class_of(*self->known) : nullptr;
    if (!callee && cls) callee = cls->find_method(node.name);
    if (!callee) return opaque(node.name, arguments, module);
    const bool inner = cls && cls->is_module() && callee->owner() == cls;
    const std::string place = inner ? self->module : module;
    return call(*callee, std::move(arguments), place);
  }

  Entry opaque(const std::string& name, const std::vector<Entry>& arguments,
               const std::string& module) {
    SketchCall& call = emit(name, module);
    for (const Entry& argument : arguments) give(argument, call);
    Entry out{.values = {fresh()}};
    call.outputs = out.values;
    return out;
  }

  // -- nodes ------------------------------------------------------------------

  /// The values that the block yields.
  std::vector<Entry> walk(const Block& block, const std::string& module,
                          Frame& frame) {
    for (const Node* node = block.first; node; node = node->next) {
      if (++steps_ > kMaxSteps) fail("the program is too long for a picture");
      if (node->kind == NodeKind::kReturn) {
        for (const Var* input : node->inputs) returned_.push_back(frame[input]);
        return {};
      }
      if (node->is_terminator()) {
        std::vector<Entry> out;
        for (const Var* input : node->inputs) out.push_back(frame[input]);
        return out;
      }
      step(*node, module, frame);
    }
    return {};
  }

  void step(const Node& node, const std::string& module, Frame& frame) {
    switch (node.kind) {
      case NodeKind::kConstant:
        return set(node, constant(node.value), frame);
      case NodeKind::kGetAttr:
        return set(node, attribute(node, frame), frame);
      case NodeKind::kSetAttr:
        return set_attribute(node, module, frame);
      case NodeKind::kCall:
      case NodeKind::kCallMethod:
      case NodeKind::kFork:
        return set(node, call_node(node, module, frame), frame);
      case NodeKind::kOp:
        return operate(node, module, frame);
      case NodeKind::kIf:
        return choose(node, module, frame);
      case NodeKind::kLoop:
      case NodeKind::kWhile:
        return loop(node, module, frame);
      case NodeKind::kTuple:
      case NodeKind::kList: {
        return set(node, together(node, frame), frame);
      }
      case NodeKind::kTupleUnpack:
      case NodeKind::kListUnpack: {
        const Entry from = frame[node.in(0)];
        const bool split = from.items.size() == node.outputs.size();
        for (size_t i = 0; i < node.outputs.size(); ++i)
          frame[node.out(i)] = split ? from.items[i] : passed(node, frame);
        return;
      }
      case NodeKind::kTupleIndex: {
        const Entry from = frame[node.in(0)];
        const size_t i = size_t(node.index);
        return set(node, i < from.items.size() ? from.items[i] : from, frame);
      }
      case NodeKind::kIs: {
        const Entry &a = frame[node.in(0)], &b = frame[node.in(1)];
        Entry out = passed(node, frame);
        if (a.known && b.known)
          out.known = Value(a.known->is(*b.known) != (node.index != 0));
        return set(node, std::move(out), frame);
      }
      case NodeKind::kCast: {
        Entry from = frame[node.in(0)];
        return set(node, std::move(from), frame);
      }
      default:
        for (const Var* output : node.outputs)
          frame[output] = passed(node, frame);
    }
  }

  static void set(const Node& node, Entry entry, Frame& frame) {
    if (!node.outputs.empty()) frame[node.out()] = std::move(entry);
  }

  /// Entry of what is made of inputs without being drawn.
  static Entry passed(const Node& node, Frame& frame) {
    Entry out;
    for (const Var* input : node.inputs) collect(frame[input], out);
    return out;
  }

  /// A tuple or list; of a large one the parts are not told apart.
  static Entry together(const Node& node, Frame& frame) {
    Entry out;
    for (const Var* input : node.inputs) out.parts += frame[input].parts;
    if (out.parts > kMaxParts) return passed(node, frame);
    for (const Var* input : node.inputs) out.items.push_back(frame[input]);
    return out;
  }

  static Entry constant(const Value& value) {
    Entry out{.known = value};
    if (value.is_tensor() && value.as_tensor().defined())
      out.weights.push_back(weight_of("constant", value.as_tensor()));
    return out;
  }

  Entry attribute(const Node& node, Frame& frame) {
    const Entry& object = frame[node.in(0)];
    if (!object.known || !object.known->is_instance())
      return passed(node, frame);
    script::ClassType* cls = script::class_of(*object.known);
    const int found = cls ? cls->find_attribute(node.name) : -1;
    const auto& slots = object.known->as_instance().slots;
    if (found < 0 || size_t(found) >= slots.size()) return {};
    const auto written =
        written_.find({&object.known->as_instance(), size_t(found)});
    if (written != written_.end()) return written->second;
    const std::string name = object.module.empty()
                                 ? node.name
                                 : concat(object.module, ".", node.name);
    return held(slots[size_t(found)], name);
  }

  static Entry held(const Value& value, const std::string& name) {
    Entry out{.known = value, .module = name};
    if (value.is_tensor() && value.as_tensor().defined())
      out.weights.push_back(weight_of(name, value.as_tensor()));
    if (!value.is_list()) return out;
    for (const Value& item : value.as_list().items) {
      if (out.items.size() >= kMaxParts) break;
      if (item.is_list()) continue;
      out.items.push_back(held(item, name));
    }
    out.parts += out.items.size();
    return out;
  }

  void set_attribute(const Node& node, const std::string& module,
                     Frame& frame) {
    const Entry object = frame[node.in(0)];
    const Entry value = frame[node.in(1)];
    if (object.known && object.known->is_instance()) {
      script::ClassType* cls = script::class_of(*object.known);
      const int slot = cls ? cls->find_attribute(node.name) : -1;
      if (slot >= 0)
        written_[{&object.known->as_instance(), size_t(slot)}] = value;
    }
    if (!holds_tensors(node.in(1)->type)) return;
    give(value, emit("keep as " + node.name, module));
  }

  void operate(const Node& node, const std::string& module, Frame& frame) {
    if (moves_items(node)) {
      const Entry all = passed(node, frame);
      for (const Var* output : node.outputs) frame[output] = all;
      if (node.op->name() != "__getitem__") frame[node.in(0)] = all;
      return;
    }
    const bool drawn =
        std::any_of(node.outputs.begin(), node.outputs.end(),
                    [](const Var* v) { return holds_tensors(v->type); });
    if (!drawn) {
      Entry out = passed(node, frame);
      out.known = computed(node, frame);
      for (const Var* output : node.outputs) frame[output] = out;
      return;
    }
    const std::string name = script::qualified(node.op->name());
    SketchCall& call =
        emit(name.starts_with("aten::") ? name.substr(6) : name, module);
    for (const Var* input : node.inputs) give(frame[input], call);
    for (const Var* output : node.outputs) {
      call.outputs.push_back(fresh());
      frame[output] = Entry{.values = {call.outputs.back()}};
    }
  }

  /// Negations, which stand before conditions.
  static std::optional<Value> computed(const Node& node, Frame& frame) {
    if (node.op->name() != "__not__") return {};
    const Entry& operand = frame[node.in(0)];
    if (!operand.known || !operand.known->is_bool()) return {};
    return Value(!operand.known->as_bool());
  }

  // -- control flow -----------------------------------------------------------

  void choose(const Node& node, const std::string& module, Frame& frame) {
    const Entry test = frame[node.in(0)];
    std::optional<size_t> taken;
    if (test.known && test.known->is_bool())
      taken = test.known->as_bool() ? 0 : 1;
    else if (only_raises(*node.blocks[1]))
      taken = 0;
    else if (only_raises(*node.blocks[0]))
      taken = 1;
    if (taken) {
      const std::vector<Entry> out = walk(*node.blocks[*taken], module, frame);
      for (size_t i = 0; i < node.outputs.size() && i < out.size(); ++i)
        frame[node.out(i)] = out[i];
      return;
    }
    SketchCall call{.path = split_path(module), .name = "if"};
    give(test, call);
    std::vector<std::vector<Entry>> results;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      SketchBlock& block = call.blocks.emplace_back();
      block.name = side == 0 ? "then" : "else";
      results.push_back(inner(*node.blocks[side], module, frame, block));
    }
    finish(node, std::move(call), results, frame);
  }

  void loop(const Node& node, const std::string& module, Frame& frame) {
    SketchCall call{.path = split_path(module), .name = "loop"};
    const bool counted = node.kind == NodeKind::kLoop;
    for (const Var* input : node.inputs) give(frame[input], call);
    std::vector<std::vector<Entry>> results;
    for (const Block* body : node.blocks) {
      SketchBlock& block = call.blocks.emplace_back();
      block.name =
          counted || body == node.blocks.back() ? "each time" : "while";
      for (const Var* param : body->params) {
        block.inputs.push_back(fresh());
        frame[param] = Entry{.values = {block.inputs.back()}};
      }
      results.push_back(inner(*body, module, frame, block));
    }
    finish(node, std::move(call), results, frame);
  }

  std::vector<Entry> inner(const Block& from, const std::string& module,
                           Frame& frame, SketchBlock& block) {
    std::vector<SketchCall>* around = std::exchange(calls_, &block.calls);
    const size_t returns = returned_.size();
    std::vector<Entry> out = walk(from, module, frame);
    calls_ = around;
    Entry all;
    for (const Entry& entry : out) collect(entry, all);
    for (size_t i = returns; i < returned_.size(); ++i)
      collect(returned_[i], all);
    block.outputs = all.values;
    return out;
  }

  /// Blocks in which nothing is drawn only pass values on.
  void finish(const Node& node, SketchCall call,
              const std::vector<std::vector<Entry>>& results, Frame& frame) {
    const bool empty =
        std::all_of(call.blocks.begin(), call.blocks.end(),
                    [](const SketchBlock& b) { return b.calls.empty(); });
    const bool tensors =
        std::any_of(node.outputs.begin(), node.outputs.end(),
                    [](const Var* v) { return holds_tensors(v->type); });
    if (empty && !tensors) {
      Entry all = passed(node, frame);
      for (const auto& entries : results)
        for (const Entry& entry : entries) collect(entry, all);
      for (const Var* output : node.outputs) frame[output] = all;
      return;
    }
    for (const auto& entries : results)
      for (const Entry& entry : entries) {
        Entry all;
        collect(entry, all);
        for (const SketchWeight& weight : all.weights)
          call.weights.push_back(weight);
      }
    for (const Var* output : node.outputs) {
      call.outputs.push_back(fresh());
      frame[output] = Entry{.values = {call.outputs.back()}};
    }
    emit("", "");
    calls_->back() = std::move(call);
    nested_ = nested_ || !calls_->back().path.empty();
  }

  std::vector<SketchCall>* calls_ = nullptr;
  std::vector<Entry> returned_;
  std::map<std::pair<const InstanceObject*, size_t>, Entry> written_;
  std::set<const Function*> active_;
  size_t values_ = 0, made_ = 0, steps_ = 0;
  bool nested_ = false;
};

}  // namespace

Sketch sketch_of(const script::Module& module, const std::string& method) {
  Function& function = module.method(method);
  const std::lock_guard lock(function.unit().mutex());
  return ScriptSketcher().run(module, function);
}

}  // namespace hotaru::exchange
