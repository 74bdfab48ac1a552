// Loops: those of a known number of rounds round by round, others as Loop.
#include <algorithm>
#include <set>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/exchange/onnx_out/carried.h"
#include "hotaru/exchange/onnx_out/merger.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

using script::NodeKind;

namespace {

// Nodes that a loop of a known number of rounds may become.
constexpr int64_t kMaxUnrolled = 4096;
constexpr int64_t kMaxRounds = 10'000;
// A body is followed until what is known of its variables stays as it is:
// each trial makes a size, a number or a list unknown.
constexpr int kMaxTrials = 40;

int64_t count_nodes(const script::Block& block) {
  int64_t count = 0;
  for (const script::Node* node = block.first; node; node = node->next) {
    ++count;
    for (const script::Block* inner : node->blocks)
      count += count_nodes(*inner);
  }
  return count;
}

bool breaks(const script::Block& block) {
  for (const script::Node* node = block.first; node; node = node->next) {
    if (node->kind == NodeKind::kBreak || node->kind == NodeKind::kReturn)
      return true;
    for (const script::Block* inner : node->blocks)
      if (breaks(*inner)) return true;
  }
  return false;
}

}  // namespace

Symbol Exporter::condition(const Node& node, const std::vector<Symbol>& carried,
                           Frame& frame) {
  const Block& test = *node.blocks[0];
  for (size_t i = 0; i < test.params.size(); ++i)
    frame[test.params[i]] = carried[i];
  Exit exit = run(test.first, frame, nullptr);
  HOTARU_CHECK_AS(NotImplementedError, exit.kind == Exit::Kind::kYield,
                  "a loop's condition that returns");
  return exit.values[0];
}

std::optional<Exporter::Exit> Exporter::loop(const Node& node, Frame& frame) {
  const bool counted = node.kind == NodeKind::kLoop;
  const Block& body = *node.blocks[counted ? 0 : 1];
  std::vector<Symbol> carried = inputs(node, frame);
  Symbol count = Value();
  if (counted) {
    count = carried[0];
    carried.erase(carried.begin());
  }
  Symbol test = counted ? Symbol(Value(true)) : condition(node, carried, frame);
  int64_t rounds = kMaxRounds;
  bool known = !counted && test.is_host();
  if (counted && count.is_host()) {
    rounds = count.host.as_int();
    known = rounds <= 1 ||
            (!breaks(body) && rounds * count_nodes(body) <= kMaxUnrolled);
  }
  for (int64_t round = 0; known; ++round) {
    if (!test.host.as_bool() || round >= rounds) break;
    HOTARU_CHECK_AS(NotImplementedError, round < kMaxRounds,
                    "a loop goes on for more than ", kMaxRounds, " rounds");
    size_t first = 0;
    if (counted) frame[body.params[first++]] = Value(round);
    for (size_t i = 0; i < carried.size(); ++i)
      frame[body.params[first + i]] = carried[i];
    Exit exit = run(body.first, frame, nullptr);
    if (exit.kind != Exit::Kind::kEnd) return exit;
    carried = std::move(exit.values);
    HOTARU_CHECK_AS(NotImplementedError, exit.again.is_host(),
                    "a loop that a condition on inputs leaves in the middle "
                    "of a round, and that has to be followed");
    if (!exit.again.host.as_bool()) break;
    if (!counted) {
      test = condition(node, carried, frame);
      known = test.is_host();
    }
  }
  if (!known) {
    try {
      carried = graph_loop(node, count, test, std::move(carried), frame);
    } catch (const ExportError&) {
      throw;
    } catch (const Error& error) {
      throw ExportError(concat(error.what(), "\n", node.range.highlight()));
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    frame[node.out(i)] = carried[i];
  return std::nullopt;
}

std::vector<Symbol> Exporter::graph_loop(const Node& node, const Symbol& count,
                                         const Symbol& test,
                                         std::vector<Symbol> initial,
                                         Frame& frame) {
  const bool counted = node.kind == NodeKind::kLoop;
  const Block& body = *node.blocks[counted ? 0 : 1];
  std::vector<Carried> slots;
  for (const Symbol& symbol : initial) slots.emplace_back(symbol);
  // Cells and lists that the body changes without carrying them.
  std::vector<std::pair<std::shared_ptr<Cell>, Carried>> cells;
  std::vector<std::pair<std::shared_ptr<List>, Carried>> lists;
  for (int trial = 0;; ++trial) {
    HOTARU_CHECK_AS(NotImplementedError, trial < kMaxTrials,
                    "a loop's variables change with every round");
    const std::string index = emitter_.fresh("i");
    const std::string again_in = emitter_.fresh("again");
    Names params;
    Symbol again;
    Branch made = in_subgraph("loop", [&] {
      size_t first = 0;
      if (counted)
        frame[body.params[first++]] = Symbol::of_number(
            index, DType::kInt64, Value(int64_t{0}), Value(int64_t{1}));
      for (size_t i = 0; i < slots.size(); ++i)
        frame[body.params[first + i]] = slots[i].enter(*this, params);
      for (auto& [cell, slot] : cells) {
        touch(cell);
        write(*cell, slot.enter(*this, params).cell->name);
      }
      for (auto& [list, slot] : lists) {
        touch(list);
        *list = *slot.enter(*this, params).list;
      }
      Exit exit = run(body.first, frame, nullptr);
      HOTARU_CHECK_AS(NotImplementedError, exit.kind == Exit::Kind::kEnd,
                      exit.kind == Exit::Kind::kRaise
                          ? "a loop whose rounds always raise"
                          : "a return from within a loop whose rounds depend "
                            "on inputs");
      again = exit.again;
      const bool stops = again.is_host() && !again.host.as_bool();
      if (!counted && !stops) {
        const Symbol next = condition(node, exit.values, frame);
        again = again.is_host()
                    ? next
                    : Symbol::of_number(
                          emitter_.add("And", {name_of(again, DType::kBool),
                                               name_of(next, DType::kBool)}),
                          DType::kBool, Value(true), Value(true));
      }
      return exit;
    });
    bool wider = false;
    for (size_t i = 0; i < slots.size(); ++i)
      wider = slots[i].widen(made.exit.values[i]) || wider;
    for (auto& [cell, after] : made.after.cells) {
      if (cell->base) continue;
      auto is_it = [&](const auto& each) { return each.first == cell; };
      if (std::any_of(cells.begin(), cells.end(), is_it)) continue;
      cells.emplace_back(cell, Carried(Symbol::tensor(cell)));
      wider = true;
    }
    for (auto& [list, after] : made.after.lists) {
      auto is_it = [&](const auto& each) { return each.first == list; };
      Symbol now = Symbol::list_of({}, 0);
      *now.list = after;
      auto found = std::find_if(lists.begin(), lists.end(), is_it);
      if (found == lists.end()) {
        Symbol before = Symbol::list_of({}, 0);
        *before.list = *list;
        lists.emplace_back(list, Carried(before));
        found = std::prev(lists.end());
        wider = true;
      }
      wider = found->second.widen(now) || wider;
    }
    if (wider) continue;
    // The body is what it has to be: its inputs and outputs.
    io::onnx::Graph& graph = *made.graph;
    graph.inputs.push_back(declared(index, DType::kInt64));
    graph.inputs.back().dims.emplace();
    graph.inputs.push_back(declared(again_in, DType::kBool));
    graph.inputs.back().dims.emplace();
    emitter_.begin(graph);
    const std::string flag =
        emitter_.add("Identity", {name_of(again, DType::kBool)});
    graph.outputs.push_back(declared(flag, DType::kBool));
    graph.outputs.back().dims.emplace();
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i].output(*this, made.exit.values[i], graph);
    for (auto& [cell, slot] : cells) {
      auto after = std::make_shared<Cell>(made.after.cells.at(cell));
      slot.output(*this, Symbol::tensor(std::move(after)), graph);
    }
    for (auto& [list, slot] : lists) {
      Symbol after = Symbol::list_of({}, 0);
      *after.list = made.after.lists.at(list);
      slot.output(*this, after, graph);
    }
    emitter_.end();
    size_t next = 0;
    auto declare = [&](const Carried& slot) {
      slot.declare(params, next, graph);
    };
    Names starts = {counted ? name_of(count, DType::kInt64) : "",
                    counted ? "" : name_of(test, DType::kBool)};
    Names outputs;
    for (const Carried& slot : slots) slot.start(*this, starts), declare(slot);
    for (auto& [cell, slot] : cells) slot.start(*this, starts), declare(slot);
    for (auto& [list, slot] : lists) slot.start(*this, starts), declare(slot);
    std::vector<Symbol> results;
    for (const Carried& slot : slots)
      results.push_back(slot.leave(*this, outputs));
    std::vector<Symbol> last;
    for (auto& [cell, slot] : cells) last.push_back(slot.leave(*this, outputs));
    for (auto& [list, slot] : lists) last.push_back(slot.leave(*this, outputs));
    if (outputs.empty()) return results;
    emitter_.add_node("Loop", starts, outputs, {attr("body", made.graph)});
    size_t at = 0;
    for (auto& [cell, slot] : cells) {
      touch(cell);
      write(*cell, last[at++].cell->name);
    }
    for (auto& [list, slot] : lists) {
      touch(list);
      const int depth = list->depth;
      *list = *last[at++].list;
      list->depth = depth;
    }
    return results;
  }
}

}  // namespace hotaru::exchange::onnx_out
