#include "hotaru/script/ir/ir.h"

#include <algorithm>

namespace hotaru::script {

const Value* Node::constant(size_t i) const {
  const Node* producer = inputs[i]->producer;
  return producer && producer->kind == NodeKind::kConstant ? &producer->value
                                                           : nullptr;
}

Graph::Graph() : top_(make_block(nullptr)) {}

Block* Graph::make_block(Node* owner) {
  Block& block = blocks_.emplace_back();
  block.owner = owner;
  if (owner) owner->blocks.push_back(&block);
  return &block;
}

Node* Graph::make_node(NodeKind kind, const SourceRange& range) {
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  node.range = range;
  ++node_count_;
  return &node;
}

Var* Graph::add_output(Node* node, TypePtr type, std::string_view name) {
  Var& var = vars_.emplace_back();
  var.type = type;
  var.producer = node;
  var.block = node->block;
  var.name = name;
  var.id = uint32_t(vars_.size());
  node->outputs.push_back(&var);
  return &var;
}

Var* Graph::add_param(Block* block, TypePtr type, std::string_view name) {
  Var& var = vars_.emplace_back();
  var.type = type;
  var.block = block;
  var.name = name;
  var.id = uint32_t(vars_.size());
  block->params.push_back(&var);
  return &var;
}

void Graph::add_input(Node* node, Var* var) {
  var->uses.push_back({node, uint32_t(node->inputs.size())});
  node->inputs.push_back(var);
}

void Graph::set_input(Node* node, size_t i, Var* var) {
  remove_use(node->inputs[i], {node, uint32_t(i)});
  node->inputs[i] = var;
  var->uses.push_back({node, uint32_t(i)});
}

void Graph::remove_input(Node* node, size_t i) {
  std::vector<Var*> inputs = node->inputs;
  drop_uses(node);
  node->inputs.clear();
  inputs.erase(inputs.begin() + std::ptrdiff_t(i));
  for (Var* var : inputs) add_input(node, var);
}

void Graph::replace_uses(Var* from, Var* to) {
  for (const Var::Use& use : from->uses) {
    use.node->inputs[use.index] = to;
    to->uses.push_back(use);
  }
  from->uses.clear();
}

void Graph::append(Block* block, Node* node) {
  node->block = block;
  node->previous = block->last;
  node->next = nullptr;
  (block->last ? block->last->next : block->first) = node;
  block->last = node;
  for (Var* out : node->outputs) out->block = block;
}

void Graph::insert_before(Node* node, Node* where) {
  Block* block = where->block;
  node->block = block;
  node->previous = where->previous;
  node->next = where;
  (where->previous ? where->previous->next : block->first) = node;
  where->previous = node;
  for (Var* out : node->outputs) out->block = block;
}

void Graph::unlink(Node* node) {
  Block* block = node->block;
  (node->previous ? node->previous->next : block->first) = node->next;
  (node->next ? node->next->previous : block->last) = node->previous;
  node->previous = node->next = nullptr;
  node->block = nullptr;
}

// From the back, where passes that go backwards find their use at once.
void Graph::remove_use(Var* var, const Var::Use& use) {
  auto found = std::find(var->uses.rbegin(), var->uses.rend(), use);
  if (found != var->uses.rend()) var->uses.erase(std::next(found).base());
}

void Graph::drop_uses(Node* node) {
  for (uint32_t i = 0; i < node->inputs.size(); ++i)
    remove_use(node->inputs[i], {node, i});
}

void Graph::erase(Node* node) {
  for (Block* block : node->blocks)
    while (block->last) erase(block->last);
  drop_uses(node);
  node->inputs.clear();
  if (node->block) unlink(node);
  node->value = Value();
  --node_count_;
}

const CallSite* Graph::add_call_site(const CallSite& site) {
  return &call_sites_.emplace_back(site);
}

std::string_view Graph::intern(std::string_view text) {
  return names_.emplace_back(text);
}

}  // namespace hotaru::script
