// Graphs as plain tuples, of which hotaru.jit makes its Graph objects.
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "bindings/gil.h"
#include "bindings/script/script_source.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/script/archive/op_spelling.h"
#include "hotaru/script/passes/passes.h"
#include "hotaru/script/run/foreign.h"

namespace hotaru::python {
namespace {

using script::Block;
using script::Graph;
using script::Node;
using script::NodeKind;
using script::Var;

nb::tuple variables(const std::vector<Var*>& vars) {
  nb::list out;
  for (const Var* var : vars)
    out.append(
        nb::make_tuple(var->id, std::string(var->name), var->type->str()));
  return nb::tuple(out);
}

std::string kind_of(const Node& node) {
  if (node.kind != NodeKind::kOp) return script::kind_name(node);
  const std::string_view name = node.op->name();
  return script::is_prim(*node.op) ? concat("prim::", name)
                                   : script::qualified(name);
}

/// Number that tells functions apart as long as they live.
uint64_t number_of(const script::Function& function) {
  return reinterpret_cast<uintptr_t>(&function);
}

/// Extras of the kind besides inputs: a constant's value, a name or an index.
nb::object extra_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::kConstant:
      // Functions of Python have no other form.
      if (node.value.is_object() &&
          dynamic_cast<script::ForeignFunction*>(node.value.as_object()))
        return nb::str("<python_value>");
      return nb::steal(to_python(node.value));
    case NodeKind::kGetAttr:
    case NodeKind::kSetAttr:
    case NodeKind::kCallMethod:
      return nb::cast(node.name);
    case NodeKind::kCall:
    case NodeKind::kFork:
      return nb::make_tuple(std::string(node.callee->short_name()),
                            node.callee->owner() != nullptr,
                            number_of(*node.callee));
    case NodeKind::kTupleIndex:
      return nb::cast(node.index);
    case NodeKind::kIsInstance: {
      nb::list types;
      for (script::TypePtr type : node.types) types.append(type->str());
      return types;
    }
    default:
      return nb::none();
  }
}

nb::object place_of(const Node& node) {
  const script::SourceRange& range = node.range;
  if (!range.source) return nb::none();
  const int line = range.source->line_index(range.begin);
  return nb::make_tuple(std::string(range.source->name()), range.line_number(),
                        range.begin - range.source->line_start(line) +
                            uint32_t(range.source->indent()),
                        range.highlight());
}

nb::tuple block_of(const Block& block);

/// (kind, inputs, outputs, extra, blocks, place, schema).
nb::tuple node_of(const Node& node) {
  nb::list inputs, blocks;
  for (const Var* input : node.inputs) inputs.append(input->id);
  for (const Block* block : node.blocks) blocks.append(block_of(*block));
  nb::object schema = nb::none();
  if (node.kind == NodeKind::kOp) schema = nb::cast(node.op->schema().str());
  return nb::make_tuple(kind_of(node), nb::tuple(inputs),
                        variables(node.outputs), extra_of(node),
                        nb::tuple(blocks), place_of(node), schema);
}

/// (parameters, nodes): the last node ends the block.
nb::tuple block_of(const Block& block) {
  nb::list nodes;
  for (const Node* node = block.first; node; node = node->next)
    nodes.append(node_of(*node));
  return nb::make_tuple(variables(block.params), nb::tuple(nodes));
}

/// A graph of its own, so that no run and no other reader changes it.
std::unique_ptr<Graph> compile(script::Function& function, bool inlined) {
  const GilRelease release;
  const std::lock_guard lock(function.unit().mutex());
  std::unique_ptr<Graph> graph = function.compile_again();
  if (inlined) {
    script::inline_calls(*graph);
    script::simplify(*graph);
  }
  return graph;
}

void collect_callees(const Block& block, std::vector<script::Function*>& out) {
  for (const Node* node = block.first; node; node = node->next) {
    if (node->kind == NodeKind::kCall) out.push_back(node->callee);
    for (const Block* inner : node->blocks) collect_callees(*inner, out);
  }
}

}  // namespace

nb::tuple graph_as_tuples(script::Function& function, bool inlined) {
  return block_of(compile(function, inlined)->top());
}

nb::dict called_graphs(script::Function& function) {
  nb::dict out;
  std::unordered_set<script::Function*> seen{&function};
  std::vector<script::Function*> waiting{&function};
  while (!waiting.empty()) {
    script::Function* next = waiting.back();
    waiting.pop_back();
    const std::unique_ptr<Graph> graph = compile(*next, true);
    if (next != &function) {
      const nb::object key = nb::cast(number_of(*next));
      out[key] = block_of(graph->top());
    }
    std::vector<script::Function*> callees;
    collect_callees(graph->top(), callees);
    for (script::Function* callee : callees)
      if (seen.insert(callee).second) waiting.push_back(callee);
  }
  return out;
}

}  // namespace hotaru::python
