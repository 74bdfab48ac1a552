// Operators that take graphs: branches, loops, and what runs in a mode.
#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/pt2/graph_text.h"

namespace hotaru::exchange::pt2 {

using Kind = Argument::Kind;

namespace {

constexpr std::string_view kSource = R"(class set_grad_enabled:
  mode : bool
  def __init__(self, mode: bool) -> NoneType:
    self.mode = mode
    return None
  def _swap(self) -> NoneType:
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(self.mode)
    self.mode = before
    return None
  def __enter__(self) -> NoneType:
    self._swap()
    return None
  def __exit__(self, kind: Any, value: Any, traceback: Any) -> NoneType:
    self._swap()
    return None
)";

const Graph& graph_of(const Node& node, size_t i) {
  HOTARU_CHECK(i < node.inputs.size() && node.inputs[i].value.graph,
               node.target, ": argument ", i, " should be a graph");
  return *node.inputs[i].value.graph;
}

const Argument& argument_of(const Node& node, size_t i) {
  HOTARU_CHECK(i < node.inputs.size(), node.target, ": argument ", i,
               " is missing");
  return node.inputs[i].value;
}

}  // namespace

std::string modes_source() {
  return std::string(kSource);
}

// Expressions that a graph is called with; lists of operands are spread.
std::vector<std::string> GraphText::operands(const Node& node,
                                             size_t first) const {
  std::vector<std::string> out;
  for (size_t i = first; i < node.inputs.size(); ++i) {
    const Argument& value = node.inputs[i].value;
    if (value.kind != Kind::kList) {
      out.push_back(expression(value));
      continue;
    }
    for (const Argument& item : value.items) out.push_back(expression(item));
  }
  return out;
}

// A list of operands, each on its own.
std::vector<std::string> GraphText::list_at(const Node& node, size_t i) const {
  const Argument& list = argument_of(node, i);
  HOTARU_CHECK(list.kind == Kind::kList, node.target, ": argument ", i,
               " should be a list");
  std::vector<std::string> out;
  for (const Argument& item : list.items) out.push_back(expression(item));
  return out;
}

void GraphText::write_cond(const Node& node) {
  const std::string test = expression(argument_of(node, 0));
  const std::vector<std::string> inputs = operands(node, 3);
  const std::vector<std::string> names = results(node);
  for (size_t branch : {1, 2}) {
    open(branch == 1 ? concat("if bool(", test, "):") : "else:");
    const std::vector<std::string> values =
        write(graph_of(node, branch), inputs);
    HOTARU_CHECK(values.size() == names.size(), node.target, ": a branch has ",
                 values.size(), " results instead of ", names.size());
    for (size_t i = 0; i < names.size(); ++i)
      line(concat(names[i], " = ", values[i]));
    if (names.empty()) line("pass");
    close();
  }
}

// Gives what a loop carries its next values, none overwritten before it is
// read.
void GraphText::carry_on(const std::vector<std::string>& carried,
                         const std::vector<std::string>& values) {
  std::vector<std::string> next;
  for (size_t i = 0; i < carried.size(); ++i) {
    next.push_back(fresh("next"));
    line(concat(next.back(), " = ", values[i]));
  }
  for (size_t i = 0; i < carried.size(); ++i)
    line(concat(carried[i], " = ", next[i]));
}

void GraphText::write_while(const Node& node) {
  const Graph& test = graph_of(node, 0);
  const Graph& body = graph_of(node, 1);
  HOTARU_CHECK(argument_of(node, 2).kind == Kind::kList, node.target,
               ": argument 2 should be a list");
  const size_t count = argument_of(node, 2).items.size();
  std::vector<std::string> inputs = operands(node, 2);
  const std::vector<std::string> names = results(node);
  HOTARU_CHECK(names.size() == count && inputs.size() >= count, node.target,
               ": ", count, " values are carried, and ", names.size(),
               " are results");
  for (size_t i = 0; i < count; ++i) {
    line(concat(names[i], " = ", inputs[i]));
    inputs[i] = names[i];
  }
  open("while True:");
  const std::vector<std::string> go_on = write(test, inputs);
  HOTARU_CHECK(go_on.size() == 1, node.target,
               ": the condition should have one result");
  open(concat("if not bool(", go_on[0], "):"));
  line("break");
  close();
  const std::vector<std::string> values = write(body, inputs);
  HOTARU_CHECK(values.size() == count, node.target, ": the body has ",
               values.size(), " results instead of ", count);
  carry_on(names, values);
  close();
}

// The rows of the tensors that one argument lists run through the graph, one
// after the other; its results are stacked, but for those that the next row
// takes (where `carried_at` is not 0).
void GraphText::write_rows(const Node& node, size_t carried_at, size_t rows_at,
                           size_t rest_at) {
  const Graph& body = graph_of(node, 0);
  const std::vector<std::string> names = results(node);
  std::vector<std::string> inputs;
  if (carried_at > 0) {
    for (const std::string& first : list_at(node, carried_at)) {
      inputs.push_back(fresh("carried"));
      line(concat(inputs.back(), " = ", first));
    }
  }
  const size_t carried = inputs.size();
  const std::vector<std::string> rows = list_at(node, rows_at);
  HOTARU_CHECK(!rows.empty() && names.size() >= carried, node.target,
               ": there are no rows to run over, or fewer results than values "
               "that are carried");
  std::vector<std::string> stacked;
  for (size_t i = carried; i < names.size(); ++i) {
    stacked.push_back(fresh("stacked"));
    line(concat(stacked.back(), " = annotate(List[Tensor], [])"));
  }
  const std::string row = fresh("row");
  open(concat("for ", row, " in range(torch.size(", rows[0], ", 0)):"));
  for (const std::string& all : rows) {
    inputs.push_back(fresh("part"));
    line(concat(inputs.back(), " = torch.select(", all, ", 0, ", row, ")"));
  }
  for (const std::string& one : list_at(node, rest_at)) inputs.push_back(one);
  const std::vector<std::string> values = write(body, inputs);
  HOTARU_CHECK(values.size() == names.size(), node.target, ": the body has ",
               values.size(), " results instead of ", names.size());
  carry_on({inputs.begin(), inputs.begin() + ptrdiff_t(carried)}, values);
  for (size_t i = 0; i < stacked.size(); ++i) {
    line(concat("_ = torch.append(", stacked[i], ", ", values[carried + i],
                ")"));
  }
  close();
  for (size_t i = 0; i < names.size(); ++i) {
    line(concat(names[i], " = ",
                i < carried
                    ? inputs[i]
                    : concat("torch.stack(", stacked[i - carried], ")")));
  }
}

void GraphText::write_within(const Node& node, const std::string& with,
                             size_t graph) {
  const std::vector<std::string> inputs = operands(node, graph + 1);
  const std::vector<std::string> names = results(node);
  if (!with.empty()) open(concat("with ", with, ":"));
  const std::vector<std::string> values = write(graph_of(node, graph), inputs);
  HOTARU_CHECK(values.size() == names.size(), node.target, ": the graph has ",
               values.size(), " results instead of ", names.size());
  for (size_t i = 0; i < names.size(); ++i)
    line(concat(names[i], " = ", values[i]));
  if (with.empty()) return;
  if (names.empty()) line("pass");
  close();
}

void GraphText::write_higher_order(const Node& node, std::string_view name) {
  if (name == "cond") return write_cond(node);
  if (name == "while_loop") return write_while(node);
  if (name == "map_impl") return write_rows(node, 0, 1, 2);
  if (name == "scan") return write_rows(node, 1, 2, 3);
  if (name == "wrap_with_set_grad_enabled") {
    uses_modes_ = true;
    return write_within(node,
                        concat(kModes, ".set_grad_enabled(",
                               expression(argument_of(node, 0)), ")"),
                        1);
  }
  if (name == "wrap_with_autocast") {
    uses_modes_ = true;
    return write_within(
        node,
        concat(kAutocast, ".autocast(", expression(argument_of(node, 0)), ", ",
               expression(argument_of(node, 1)), ", ",
               expression(argument_of(node, 2)), ", ",
               expression(argument_of(node, 3)), ")"),
        4);
  }
  if (name == "tag_activation_checkpoint") return write_within(node, "", 0);
  if (name == "with_effects") return write_with_effects(node);
  if (name == "invoke_subgraph") {
    HOTARU_CHECK(node.inputs.size() >= 2, node.target, " takes two arguments");
    Node call = node;  // without the graph's name
    call.inputs.erase(call.inputs.begin() + 1);
    return write_within(call, "", 0);
  }
  fail("the program uses torch.ops.higher_order.", name.substr(0, 80),
       ", which is not supported; supported are cond, while_loop, "
       "map_impl, scan, wrap_with_set_grad_enabled, wrap_with_autocast, "
       "tag_activation_checkpoint, invoke_subgraph and with_effects");
}

}  // namespace hotaru::exchange::pt2
