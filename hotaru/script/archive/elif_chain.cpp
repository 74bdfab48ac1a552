#include "hotaru/script/archive/elif_chain.h"

#include <algorithm>

#include "hotaru/script/program/function.h"

namespace hotaru::script {

namespace {

/// Longer conditions are better read line by line.
constexpr size_t kLongest = 64;

bool is_op(const Node* node, std::string_view name) {
  return node && node->kind == NodeKind::kOp && node->op->name() == name;
}

/// True if the block does nothing but yield that.
bool yields(const Block& block, bool value) {
  const Node* last = block.terminator();
  if (!last || last->kind != NodeKind::kYield || last->inputs.size() != 1)
    return false;
  for (const Node* node = block.first; node != last; node = node->next)
    if (node->kind != NodeKind::kConstant) return false;
  const Value* known = last->constant(0);
  return known && known->is_bool() && known->as_bool() == value;
}

/// True if the node is a part of an expression, apart from what it is made of.
bool is_part(const Node& node) {
  if (node.outputs.size() != 1 || node.out()->uses.size() != 1) return false;
  switch (node.kind) {
    case NodeKind::kOp:
      // Tensors out of numbers are spelled by what uses them.
      return !is_op(&node, "tolist") && !is_op(&node, "scalar_to_tensor") &&
             std::none_of(node.inputs.begin(), node.inputs.end(),
                          [](const Var* v) {
                            return is_op(v->producer, "scalar_to_tensor") ||
                                   is_op(v->producer, "tolist");
                          });
    case NodeKind::kCall:
      return !node.next || node.next->kind != NodeKind::kEnter;
    case NodeKind::kCast:
      return !is_op(node.in(0)->producer, "tolist") &&
             !is_subtype(node.in(0)->type, node.type);
    case NodeKind::kCallMethod:
    case NodeKind::kGetAttr:
    case NodeKind::kTupleIndex:
    case NodeKind::kIsInstance:
    case NodeKind::kIs:
      return true;
    case NodeKind::kIf:
      return evaluated_side(node);
    default:
      return false;
  }
}

class Expression {
 public:
  bool reads(const Block& block, const Node* end, const Var* result) {
    std::vector<const Var*> made;
    for (const Node* node = block.first; node != end; node = node->next) {
      if (node->kind == NodeKind::kConstant) continue;
      if (++length_ > kLongest || !is_part(*node) || !take(made, *node))
        return false;
      if (const Block* side = evaluated_side(*node)) {
        const Node* yield = side->terminator();
        if (!reads(*side, yield, yield->in(0))) return false;
      }
      made.push_back(node->out());
    }
    if (made.empty())
      return !result->producer || result->producer->block != &block ||
             result->producer->kind == NodeKind::kConstant;
    return made.size() == 1 && made[0] == result;
  }

 private:
  /// The node's inputs off the values that wait, which they must be the last
  /// of.
  static bool take(std::vector<const Var*>& made, const Node& node) {
    std::vector<const Var*> taken;
    for (const Var* v : node.inputs)
      if (std::find(made.begin(), made.end(), v) != made.end())
        taken.push_back(v);
    if (!std::equal(taken.rbegin(), taken.rend(), made.rbegin(),
                    made.rbegin() + ptrdiff_t(taken.size())))
      return false;
    made.resize(made.size() - taken.size());
    return true;
  }

  size_t length_ = 0;
};

}  // namespace

const Block* evaluated_side(const Node& node) {
  if (node.kind != NodeKind::kIf || node.outputs.size() != 1 ||
      node.out()->type->kind != TypeKind::kBool)
    return nullptr;
  for (const size_t side : {0, 1}) {
    const Block& other = *node.blocks[1 - side];
    const Node* yield = node.blocks[side]->terminator();
    if (yields(other, side == 1) && yield && yield->kind == NodeKind::kYield)
      return node.blocks[side];
  }
  return nullptr;
}

bool is_one_expression(const Block& block, const Node* end, const Var* result) {
  return Expression().reads(block, end, result);
}

const Node* elif_of(const Block& otherwise) {
  const Node* last = otherwise.terminator();
  if (!last ||
      (last->kind != NodeKind::kYield && last->kind != NodeKind::kUnreachable))
    return nullptr;
  const Node* inner = last->previous;
  if (!inner || inner->kind != NodeKind::kIf) return nullptr;
  for (const Var* out : inner->outputs)
    for (const Var::Use& use : out->uses)
      if (use.node != last) return nullptr;
  return is_one_expression(otherwise, inner, inner->in(0)) ? inner : nullptr;
}

std::vector<Var*> BranchTargets::values(const Node& yield) const {
  if (!inner_) return yield.inputs;
  std::vector<Var*> out;
  for (const Source& source : sources_)
    out.push_back(source.known ? source.known : yield.in(source.output));
  return out;
}

void BranchTargets::enter(const Node& inner) {
  const Node& last = *inner.block->terminator();
  std::vector<Source> sources;
  // Branches that never come to their end yield nothing.
  if (last.kind == NodeKind::kYield) {
    std::unordered_map<const Var*, size_t> outputs;
    for (size_t i = 0; i < inner.outputs.size(); ++i)
      outputs.emplace(inner.out(i), i);
    for (Var* value : values(last)) {
      const auto found = outputs.find(value);
      sources.push_back(found == outputs.end()
                            ? Source{0, value}
                            : Source{found->second, nullptr});
    }
  }
  sources_ = std::move(sources);
  inner_ = true;
}

}  // namespace hotaru::script
