// Conditions.
#include <set>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/exchange/error_block.h"
#include "hotaru/exchange/onnx_out/merger.h"

namespace hotaru::exchange::onnx_out {

using script::NodeKind;

namespace {

// Tells whether a block can be left other than at its end: `in_loop` is set
// within a loop of its own, whose breaks are not the block's.
bool leaves(const script::Block& block, bool in_loop) {
  for (const script::Node* node = block.first; node; node = node->next) {
    if (node->kind == NodeKind::kReturn) return true;
    if (!in_loop &&
        (node->kind == NodeKind::kBreak || node->kind == NodeKind::kContinue))
      return true;
    const bool loop =
        node->kind == NodeKind::kLoop || node->kind == NodeKind::kWhile;
    for (const script::Block* inner : node->blocks)
      if (leaves(*inner, in_loop || loop)) return true;
  }
  return false;
}

}  // namespace

// A known condition takes its branch. Errors are not part of a graph: the
// branch that raises one is left out.
std::optional<Exporter::Exit> Exporter::branch(const Node& node, Frame& frame,
                                               const Rest* rest,
                                               const Node*& next,
                                               bool& inside) {
  const Symbol test = at(frame, node.in(0));
  std::optional<size_t> taken;
  if (test.is_host())
    taken = test.host.as_bool() ? 0 : 1;
  else if (only_raises(*node.blocks[0]))
    taken = 1;
  else if (only_raises(*node.blocks[1]))
    taken = 0;
  const bool leaving =
      leaves(*node.blocks[0], false) || leaves(*node.blocks[1], false);
  if (!taken) {
    const std::string condition = name_of(test, DType::kBool);
    Rest after{&node, rest};
    auto body = [&](size_t i) {
      return in_subgraph(i == 0 ? "then" : "else", [&] {
        return run(node.blocks[i]->first, frame, leaving ? &after : nullptr);
      });
    };
    Branch yes = body(0);
    Branch no = body(1);
    const bool yes_raises = yes.exit.kind == Exit::Kind::kRaise;
    const bool no_raises = no.exit.kind == Exit::Kind::kRaise;
    if (yes_raises && no_raises) return yes.exit;
    if (!yes_raises && !no_raises) {
      HOTARU_CHECK_AS(NotImplementedError, yes.exit.kind == no.exit.kind,
                      "one branch returns from within a loop, the other does "
                      "not");
      return joined_exit(node, condition, yes, no, frame, next);
    }
    taken = yes_raises ? 1 : 0;
  }
  next = node.blocks[*taken]->first;
  inside = true;
  return std::nullopt;
}

// The If, and what it gives: to the nodes behind it, or to who is left to.
std::optional<Exporter::Exit> Exporter::joined_exit(
    const Node& node, const std::string& condition, Branch& yes, Branch& no,
    Frame& frame, const Node*& next) {
  Merger merger(*this, *yes.graph, *no.graph);
  Exit exit;
  exit.kind = yes.exit.kind;
  try {
    for (size_t i = 0; i < yes.exit.values.size(); ++i) {
      exit.values.push_back(
          merger.merge(yes.exit.values[i], no.exit.values[i]));
    }
    if (exit.kind == Exit::Kind::kEnd)
      exit.again = merger.merge(yes.exit.again, no.exit.again);
    std::vector<std::pair<std::shared_ptr<Cell>, std::string>> cells;
    std::vector<std::pair<std::shared_ptr<List>, Symbol>> lists;
    std::set<std::shared_ptr<Cell>> changed;
    std::set<std::shared_ptr<List>> grown;
    for (const Branch* each : {&yes, &no}) {
      for (const auto& [cell, after] : each->after.cells) changed.insert(cell);
      for (const auto& [list, after] : each->after.lists) grown.insert(list);
    }
    for (const auto& cell : changed) {
      if (cell->base) continue;  // follows its base
      auto now = [&](const Branch& branch) {
        auto found = branch.after.cells.find(cell);
        return Symbol::tensor(found == branch.after.cells.end()
                                  ? cell
                                  : std::make_shared<Cell>(found->second));
      };
      cells.emplace_back(cell, merger.merge(now(yes), now(no)).cell->name);
    }
    for (const auto& list : grown) {
      auto now = [&](const Branch& branch) {
        auto found = branch.after.lists.find(list);
        Symbol out = Symbol::list_of({}, 0);
        *out.list = found == branch.after.lists.end() ? *list : found->second;
        return out;
      };
      lists.emplace_back(list, merger.merge(now(yes), now(no)));
    }
    if (!merger.outputs().empty()) {
      emitter_.add_node(
          "If", {condition}, merger.outputs(),
          {attr("then_branch", yes.graph), attr("else_branch", no.graph)});
    }
    for (auto& [cell, name] : cells) {
      touch(cell);
      write(*cell, name);
    }
    for (auto& [list, value] : lists) {
      touch(list);
      list->items = value.list->items;
      list->sequence = value.list->sequence;
      list->element = value.list->element;
    }
  } catch (const ExportError&) {
    throw;
  } catch (const Error& error) {
    throw ExportError(concat(error.what(), "\n", node.range.highlight()));
  }
  if (exit.kind != Exit::Kind::kYield) return exit;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    frame[node.out(i)] = exit.values[i];
  next = node.next;
  return std::nullopt;
}

}  // namespace hotaru::exchange::onnx_out
