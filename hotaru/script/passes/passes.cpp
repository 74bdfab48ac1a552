#include "hotaru/script/passes/passes.h"

#include <algorithm>
#include <exception>
#include <string_view>

#include "hotaru/ops/own/own_operator.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

// Operators that do, or depend on, something beyond what their schema shows.
constexpr std::string_view kEffects[] = {
    "dropout",
    "rand",
    "randn",
    "randint",
    "randperm",
    "rand_like",
    "randn_like",
    "randint_like",
    "bernoulli",
    "multinomial",
    "normal",
    "poisson",
    "_set_autocast",
    "get_autocast_dtype",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_grad_enabled",
    "set_grad_enabled",
    "manual_seed",
    "seed",
    "wait",
    "set_data",
    "set_",
    "warn",
    "backward",
    "call_foreign",
    "awaitable_wait",
    "feature_dropout",
    "alpha_dropout",
    "rrelu",
    // On lists and dicts, whose writes schemas don't show.
    "append",
    "extend",
    "insert",
    "clear",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "sort",
    "_set_item",
    "Delete",
    "setdefault",
    "update",
    // Their errors must be heard.
    "wait",
    "_unwrap_optional",
};

bool draws_or_writes(const Operator& op) {
  std::string_view name = op.name();
  if (std::find(std::begin(kEffects), std::end(kEffects), name) !=
      std::end(kEffects))
    return true;
  const Schema& schema = op.schema();
  if (schema.results.empty()) return true;
  for (const Argument& argument : schema.arguments)
    if (argument.type.written || argument.type.kind == ArgKind::kGenerator)
      return true;
  if (own::is_conservative(op)) return true;
  // foo_ writes to its first argument, whatever the schema says.
  return name.size() > 1 && name.back() == '_' && !name.ends_with("__");
}

bool is_builtin(const Operator& op) {
  const auto& builtins = find_builtins(op.name());
  return std::find(builtins.begin(), builtins.end(), &op) != builtins.end();
}

// Constants that folding may create: immutable, and small.
bool is_foldable(const Value& value) {
  return value.is_none() || value.is_int() || value.is_double() ||
         value.is_bool() || value.is_device() || value.is_complex() ||
         enum_of(value) ||
         (value.is_string() && value.as_string().size() < 4096);
}

bool remove_dead(Graph& graph, Block& block) {
  bool changed = false;
  for (Node* node = block.last; node;) {
    Node* previous = node->previous;
    for (Block* inner : node->blocks) changed |= remove_dead(graph, *inner);
    bool unused = std::all_of(node->outputs.begin(), node->outputs.end(),
                              [](Var* out) { return out->uses.empty(); });
    if (unused && !has_side_effects(*node)) {
      graph.erase(node);
      changed = true;
    }
    node = previous;
  }
  return changed;
}

// Unused outputs of branches, with the values that they would get.
bool remove_dead_outputs(Graph& graph, Node* node) {
  bool changed = false;
  for (size_t i = node->outputs.size(); i-- > 0;) {
    if (!node->outputs[i]->uses.empty()) continue;
    for (Block* block : node->blocks) {
      Node* last = block->terminator();
      if (last && last->kind == NodeKind::kYield) graph.remove_input(last, i);
    }
    node->outputs.erase(node->outputs.begin() + std::ptrdiff_t(i));
    changed = true;
  }
  return changed;
}

// Puts the taken branch in the place of the if.
void splice_branch(Graph& graph, Node* node, Block& taken) {
  Node* last = taken.terminator();
  bool leaves = last && last->kind != NodeKind::kYield;
  if (!leaves && last) {
    for (size_t i = 0; i < node->outputs.size(); ++i)
      graph.replace_uses(node->outputs[i], last->inputs[i]);
    graph.erase(last);
  }
  while (Node* first = taken.first) {
    graph.unlink(first);
    graph.insert_before(first, node);
  }
  if (leaves) {
    // Nodes that follow cannot be reached.
    while (node->block->last != node) graph.erase(node->block->last);
  }
  graph.erase(node);
}

// Computes what an operator gives for constants; false if that is not known
// before it runs.
bool evaluate(const Node* node, Value* result) {
  if (node->outputs.size() != 1 || !is_builtin(*node->op) ||
      has_side_effects(*node))
    return false;
  std::vector<Value> arguments;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    const Value* value = node->constant(i);
    if (!value || !is_foldable(*value)) return false;
    arguments.push_back(*value);
  }
  try {
    node->op->call(arguments.data(), result);
  } catch (const std::exception&) {
    return false;  // it shall fail when it runs, not before
  }
  return is_foldable(*result);
}

bool fold_node(Graph& graph, Node* node) {
  Value result;
  if (node->kind == NodeKind::kGetAttr) {
    const Value* member = node->constant(0);
    if (!member || !enum_of(*member)) return false;
    result = member->as_instance().slots[size_t(node->index)];
  } else if (node->kind != NodeKind::kOp || !evaluate(node, &result)) {
    return false;
  }
  Node* constant = graph.make_node(NodeKind::kConstant, node->range);
  constant->function = node->function;
  constant->call_site = node->call_site;
  constant->value = std::move(result);
  graph.insert_before(constant, node);
  graph.replace_uses(node->outputs[0],
                     graph.add_output(constant, node->outputs[0]->type,
                                      node->outputs[0]->name));
  graph.erase(node);
  return true;
}

bool fold_block(Graph& graph, Block& block) {
  bool changed = false;
  for (Node* node = block.first; node;) {
    Node* next = node->next;
    for (Block* inner : node->blocks) changed |= fold_block(graph, *inner);
    if (node->kind == NodeKind::kIf) {
      if (const Value* test = node->constant(0); test && test->is_bool()) {
        Block& taken = *node->blocks[test->as_bool() ? 0 : 1];
        Node* last = taken.terminator();
        bool leaves = last && last->kind != NodeKind::kYield;
        splice_branch(graph, node, taken);
        changed = true;
        if (leaves) return true;
      } else {
        changed |= remove_dead_outputs(graph, node);
      }
    } else {
      changed |= fold_node(graph, node);
    }
    node = next;
  }
  return changed;
}

// The variable that this node's output i always equals, or null.
Var* same_as(const Node& node, size_t i) {
  Var* input = node.inputs.empty() ? nullptr : node.inputs[0];
  const Node* producer = input ? input->producer : nullptr;
  bool from_tuple = producer && producer->kind == NodeKind::kTuple;
  switch (node.kind) {
    case NodeKind::kTupleUnpack:
      return from_tuple && i < producer->inputs.size() ? producer->inputs[i]
                                                       : nullptr;
    case NodeKind::kTupleIndex: {
      size_t at = size_t(node.index);
      return from_tuple && at < producer->inputs.size() ? producer->inputs[at]
                                                        : nullptr;
    }
    case NodeKind::kCast:
      return input && is_subtype(input->type, node.type) ? input : nullptr;
    default:
      return nullptr;
  }
}

bool rewrite_block(Graph& graph, Block& block) {
  bool changed = false;
  for (Node* node = block.first; node; node = node->next) {
    for (Block* inner : node->blocks) changed |= rewrite_block(graph, *inner);
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i]->uses.empty()) continue;
      if (Var* same = same_as(*node, i)) {
        graph.replace_uses(node->outputs[i], same);
        changed = true;
      }
    }
    // `x is None` where the type of x tells.
    if (node->kind == NodeKind::kIs && !node->outputs[0]->uses.empty() &&
        node->inputs[1]->type->kind == TypeKind::kNone) {
      TypeKind kind = node->inputs[0]->type->kind;
      bool maybe = kind == TypeKind::kOptional || kind == TypeKind::kAny ||
                   kind == TypeKind::kUnion;
      if (!maybe) {
        bool is_none = kind == TypeKind::kNone;
        Node* constant = graph.make_node(NodeKind::kConstant, node->range);
        constant->function = node->function;
        constant->call_site = node->call_site;
        constant->value = is_none != (node->index != 0);
        graph.insert_before(constant, node);
        graph.replace_uses(node->outputs[0],
                           graph.add_output(constant, node->outputs[0]->type));
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace

bool has_side_effects(const Node& node) {
  switch (node.kind) {
    case NodeKind::kOp:
      return draws_or_writes(*node.op);
    case NodeKind::kConstant:
    case NodeKind::kGetAttr:
    case NodeKind::kTuple:
    case NodeKind::kTupleUnpack:
    case NodeKind::kTupleIndex:
    case NodeKind::kList:
    case NodeKind::kDict:
    case NodeKind::kCreate:
    case NodeKind::kIsInstance:
    case NodeKind::kIs:
    case NodeKind::kFormat:
      return false;
    case NodeKind::kCast:
      return !is_subtype(node.inputs[0]->type, node.type);
    case NodeKind::kIf:
    case NodeKind::kLoop:
      for (const Block* block : node.blocks) {
        for (const Node* inner = block->first; inner; inner = inner->next) {
          bool plain_end = inner->kind == NodeKind::kYield ||
                           (node.kind == NodeKind::kLoop &&
                            (inner->kind == NodeKind::kContinue ||
                             inner->kind == NodeKind::kBreak));
          if (!plain_end && has_side_effects(*inner)) return true;
        }
      }
      return false;
    default:
      return true;
  }
}

bool remove_dead_code(Graph& graph) {
  return remove_dead(graph, graph.top());
}

bool fold_constants(Graph& graph) {
  return fold_block(graph, graph.top());
}

bool simplify_locally(Graph& graph) {
  return rewrite_block(graph, graph.top());
}

void simplify(Graph& graph) {
  // Each round removes at least one node; a few suffice for real programs.
  constexpr int kMaxRounds = 8;
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = simplify_locally(graph);
    changed |= fold_constants(graph);
    changed |= remove_dead_code(graph);
    if (!changed) return;
  }
}

}  // namespace hotaru::script
