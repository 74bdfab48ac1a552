#include "hotaru/script/passes/origins.h"

#include <vector>

#include "hotaru/ops/own/own_operator.h"

namespace hotaru::script {

namespace {

bool can_hold(TypePtr type) {
  switch (type->kind) {
    case TypeKind::kNone:
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kFloat:
    case TypeKind::kComplex:
    case TypeKind::kNumber:
    case TypeKind::kString:
    case TypeKind::kDevice:
    case TypeKind::kEnum:
      return false;
    default:
      return true;
  }
}

// Goes from a variable to those that it may have its memory from.
class Search {
 public:
  explicit Search(std::set<const Var*>& found) : found_(found) {}

  void add(const Var* var) {
    if (!can_hold(var->type) || !found_.insert(var).second) return;
    waiting_.push_back(var);
  }

  void run() {
    while (!waiting_.empty()) {
      const Var* var = waiting_.back();
      waiting_.pop_back();
      if (var->producer)
        made_by(*var, *var->producer);
      else if (var->block && var->block->owner)
        through(*var->block->owner);
      if (var->type->kind != TypeKind::kTensor) contents(*var);
    }
  }

 private:
  void all(const Node& node) {
    for (const Var* input : node.inputs) add(input);
  }

  void made_by(const Var& var, const Node& node) {
    if (node.kind == NodeKind::kOp)
      op(var, node);
    else if (node.blocks.empty())
      all(node);
    else
      through(node);
  }

  // Operators tell by their marks; built-ins of lists and dicts have none.
  void op(const Var& var, const Node& node) {
    const Schema& schema = node.op->schema();
    const char made = schema.results.empty() ? 0 : schema.results[0].type.alias;
    if (own::is_conservative(*node.op)) return all(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool tensor = node.in(i)->type->kind == TypeKind::kTensor;
      const char taken = schema.arguments[i].type.alias;
      const bool several = node.outputs.size() > 1 && taken;
      const bool same = taken && (taken == made || several);
      if (same || !tensor || var.type->kind != TypeKind::kTensor)
        add(node.in(i));
    }
  }

  // A branch or a loop: anything that goes in or that a block hands over.
  void through(const Node& node) {
    all(node);
    for (const Block* block : node.blocks) {
      for (const Node* inner = block->first; inner; inner = inner->next) {
        if (inner->is_terminator()) all(*inner);
        if (!inner->blocks.empty()) through(*inner);
      }
    }
  }

  // Finds what is put into a list, a dict or an object.
  void contents(const Var& var) {
    for (const Var::Use& use : var.uses) {
      const NodeKind kind = use.node->kind;
      if (kind == NodeKind::kOp || kind == NodeKind::kSetAttr) all(*use.node);
    }
  }

  std::set<const Var*>& found_;
  std::vector<const Var*> waiting_;
};

}  // namespace

std::set<const Var*> origins(const Var* var) {
  std::set<const Var*> found;
  Search search(found);
  search.add(var);
  search.run();
  return found;
}

void add_written(const Node& node, std::set<const Var*>& found) {
  Search search(found);
  switch (node.kind) {
    case NodeKind::kOp: {
      const std::vector<Argument>& schema = node.op->schema().arguments;
      const bool any = own::is_conservative(*node.op);
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (any || schema[i].type.written) search.add(node.in(i));
      break;
    }
    case NodeKind::kCall:
    case NodeKind::kCallMethod:
    case NodeKind::kFork:
      for (const Var* input : node.inputs) search.add(input);
      break;
    default:
      break;
  }
  search.run();
}

}  // namespace hotaru::script
