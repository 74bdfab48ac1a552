// Inlining of calls.
#include <algorithm>
#include <unordered_map>

#include "hotaru/script/passes/passes.h"
#include "hotaru/script/program/function.h"

namespace hotaru::script {

namespace {

// A graph stops growing here; the calls that are left stay calls. Without a
// limit, functions that call each other twice would grow without bounds.
constexpr size_t kMaxNodes = 20000;
// Blocks in blocks, and calls in calls: what walks a graph recurses as deep.
constexpr size_t kMaxDepth = 300;
constexpr size_t kMaxCalls = 64;

size_t depth_of(const Block* block) {
  size_t depth = 0;
  for (; block->owner; block = block->owner->block) ++depth;
  return depth;
}

size_t depth_below(const Block& block) {
  size_t deepest = 0;
  for (const Node* node = block.first; node; node = node->next)
    for (const Block* inner : node->blocks)
      deepest = std::max(deepest, 1 + depth_below(*inner));
  return deepest;
}

class Inliner {
 public:
  explicit Inliner(Graph& graph) : graph_(graph) {}

  void block(Block& block) {
    if (raises(block)) return;
    for (Node* node = block.first; node;) {
      Node* next = node->next;
      for (Block* inner : node->blocks) this->block(*inner);
      if (node->kind == NodeKind::kCall) inline_call(node);
      node = next;
    }
  }

 private:
  // True if it raises: what such a block calls is compiled when it is called.
  static bool raises(const Block& block) {
    const Node* last = block.terminator();
    return last && last->kind == NodeKind::kUnreachable;
  }

  // A body that returns only at its end can stand in the call's place.
  static bool returns_once(const Block& top) {
    const Node* last = top.terminator();
    return last && last->kind == NodeKind::kReturn && !leaves_inside(top);
  }

  static bool leaves_inside(const Block& block) {
    for (const Node* node = block.first; node; node = node->next) {
      for (const Block* inner : node->blocks) {
        const Node* last = inner->terminator();
        if ((last && last->kind == NodeKind::kReturn) || leaves_inside(*inner))
          return true;
      }
    }
    return false;
  }

  // The two calls of a with block stay: what is printed of the program names
  // them by the block, and runs the second when the block throws.
  static bool opens_with(const Node& call) {
    return call.next && call.next->kind == NodeKind::kEnter &&
           call.callee->short_name() == "__enter__";
  }
  static bool closes_with(const Node& call) {
    if (call.callee->short_name() != "__exit__") return false;
    const Node* before = call.previous;
    while (before && before->kind == NodeKind::kConstant)
      before = before->previous;
    return before && before->kind == NodeKind::kExit;
  }

  void inline_call(Node* call) {
    if (opens_with(*call) || closes_with(*call)) return;
    Function* callee = call->callee;
    if (active_.size() >= kMaxCalls ||
        std::find(active_.begin(), active_.end(), callee) != active_.end())
      return;
    Graph& body = callee->graph();
    if (&body == &graph_ || !returns_once(body.top()) ||
        graph_.node_count() + body.node_count() > kMaxNodes ||
        depth_of(call->block) + depth_below(body.top()) > kMaxDepth)
      return;
    const CallSite* site =
        graph_.add_call_site({call->range, call->function, call->call_site});
    std::unordered_map<const Var*, Var*> map;
    const Block& top = body.top();
    for (size_t i = 0; i < top.params.size(); ++i)
      map[top.params[i]] = call->inputs[i];
    std::vector<Node*> calls;
    for (const Node* node = top.first; node; node = node->next) {
      if (node->is_terminator()) {
        graph_.replace_uses(call->outputs[0], map.at(node->inputs[0]));
        break;
      }
      Node* copied = copy(*node, map, site);
      graph_.insert_before(copied, call);
      outputs(*node, copied, map);
      collect_calls(copied, calls);
    }
    graph_.erase(call);
    active_.push_back(callee);
    for (Node* inner : calls) inline_call(inner);
    active_.pop_back();
  }

  static void collect_calls(Node* node, std::vector<Node*>& out) {
    if (node->kind == NodeKind::kCall) out.push_back(node);
    for (Block* block : node->blocks) {
      if (raises(*block)) continue;
      for (Node* inner = block->first; inner; inner = inner->next)
        collect_calls(inner, out);
    }
  }

  const CallSite* extend(const CallSite* inner, const CallSite* site) {
    if (!inner) return site;
    return graph_.add_call_site(
        {inner->range, inner->function, extend(inner->caller, site)});
  }

  Node* copy(const Node& node, std::unordered_map<const Var*, Var*>& map,
             const CallSite* site) {
    Node* out = graph_.make_node(node.kind, node.range);
    out->function = node.function;
    out->call_site = extend(node.call_site, site);
    out->op = node.op;
    out->callee = node.callee;
    out->value = node.value;
    out->name = node.name;
    out->index = node.index;
    out->type = node.type;
    out->types = node.types;
    for (const Var* input : node.inputs) graph_.add_input(out, map.at(input));
    for (const Block* block : node.blocks) {
      Block* inner = graph_.make_block(out);
      for (const Var* param : block->params)
        map[param] = graph_.add_param(inner, param->type, param->name);
      for (const Node* n = block->first; n; n = n->next) {
        Node* copied = copy(*n, map, site);
        graph_.append(inner, copied);
        outputs(*n, copied, map);
      }
    }
    return out;
  }

  void outputs(const Node& node, Node* copied,
               std::unordered_map<const Var*, Var*>& map) {
    for (const Var* out : node.outputs)
      map[out] = graph_.add_output(copied, out->type, out->name);
  }

  Graph& graph_;
  std::vector<Function*> active_;
};

}  // namespace

void inline_calls(Graph& graph) {
  Inliner(graph).block(graph.top());
}

}  // namespace hotaru::script
