// If, Loop, Scan and SequenceMap: graphs within graphs.
#include <algorithm>

#include "hotaru/core/error.h"
#include "hotaru/exchange/onnx/graph_writer.h"
#include "hotaru/script/archive/literal.h"

namespace hotaru::exchange::onnx {

using io::onnx::Attribute;
using io::onnx::Graph;
using io::onnx::ValueInfo;
using script::TypeTable;

namespace {

const Graph& graph_of(const io::onnx::Node& node, std::string_view name,
                      const std::string& where) {
  const Attribute* attribute = node.find(name);
  HOTARU_CHECK(attribute && attribute->graphs.size() == 1, where,
               ": has no graph '", name, "'");
  return *attribute->graphs[0];
}

std::vector<int64_t> ints_of(const io::onnx::Node& node, std::string_view name,
                             size_t count) {
  const Attribute* attribute = node.find(name);
  std::vector<int64_t> out =
      attribute ? attribute->ints : std::vector<int64_t>();
  out.resize(count);
  return out;
}

// The shape of no rounds' results: what is declared of one round's, of which
// what is unknown is 0.
std::string empty_shape(const ValueInfo& info) {
  std::string out = "[0";
  if (info.dims) {
    for (const ValueInfo::Dim& dim : *info.dims) {
      out += concat(", ", std::max<int64_t>(dim.size, 0));
    }
  }
  return out + "]";
}

int dtype_number(const ValueInfo& info) {
  return int(io::onnx::dtype_of(info.elem_type).value_or(DType::kFloat32));
}

}  // namespace

GraphWriter::Block GraphWriter::block(const Graph& graph, Scope& scope) {
  std::string outside = std::move(text_);
  text_.clear();
  ++indent_;
  add_initializers(graph, scope, false);
  write(graph.nodes, scope);
  Block out;
  for (const ValueInfo& each : graph.outputs) {
    const Operand* value = scope.find(each.name);
    HOTARU_CHECK(value, file_.name(), ": graph '", graph.name,
                 "' does not give its output '", each.name, "'");
    out.results.push_back(*value);
  }
  --indent_;
  out.text = std::move(text_);
  text_ = std::move(outside);
  return out;
}

void GraphWriter::write_if(const Node& node, Scope& scope) {
  const Graph* graphs[] = {&graph_of(node, "then_branch", where(node)),
                           &graph_of(node, "else_branch", where(node))};
  const Operand condition = input(node, 0, scope);
  if (condition.constant) {
    std::optional<Value> known =
        constant_value(condition.constant->tensor, TypeTable::boolean());
    HOTARU_CHECK(known, where(node), ": the condition is no bool");
    Scope inner{&scope, scope.attributes, scope.opsets};
    const Graph& taken = *graphs[known->as_bool() ? 0 : 1];
    add_initializers(taken, inner, false);
    write(taken.nodes, inner);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Operand* value = i < taken.outputs.size()
                                 ? inner.find(taken.outputs[i].name)
                                 : nullptr;
      HOTARU_CHECK(value, where(node), ": a branch lacks output ", i);
      set(node, i, *value, scope);
    }
    return;
  }
  Block blocks[2];
  for (int i = 0; i < 2; ++i) {
    Scope inner{&scope, scope.attributes, scope.opsets};
    blocks[i] = block(*graphs[i], inner);
    HOTARU_CHECK(blocks[i].results.size() >= node.outputs.size(), where(node),
                 ": a branch has ", blocks[i].results.size(), " outputs");
  }
  std::vector<Operand> results;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const Operand& a = blocks[0].results[k];
    const Operand& b = blocks[1].results[k];
    Kind kind = joined(a.host_kind(), b.host_kind());
    // Both constants: data, unless it looks like a shape in both.
    results.push_back(variable(kind));
    HOTARU_CHECK(kind != Kind::kMissing || !missing_.empty(), where(node),
                 ": the branches' outputs ", k, " are of different types");
    set(node, k, results.back(), scope);
  }
  for (int i = 0; i < 2; ++i) {
    line(i == 0 ? concat("if ",
                         argument(condition, TypeTable::boolean(), tree_), ":")
                : "else:");
    blocks[i].results.resize(results.size());
    assign(results, blocks[i].results, blocks[i].text);
    text_ += blocks[i].text;
    if (blocks[i].text.empty()) line("  pass");
  }
}

// Appends to the block's text: all values first, as they may be variables.
void GraphWriter::assign(const std::vector<Operand>& variables,
                         const std::vector<Operand>& values,
                         std::string& text) {
  std::swap(text, text_);
  ++indent_;
  std::vector<std::string> texts;
  for (size_t i = 0; i < variables.size(); ++i) {
    texts.push_back(argument(values[i], variables[i].kind, tree_));
    if (variables.size() > 1) {
      std::string copy = concat("_", names_++);
      line(concat(copy, " = ", texts[i]));
      texts[i] = copy;
    }
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    line(concat(variables[i].text, " = ", texts[i]));
  }
  --indent_;
  std::swap(text, text_);
}

// A variable that starts as a number and becomes a tensor is one from the
// start; finding that out takes the body twice.
template <class Body>
GraphWriter::Block GraphWriter::fixed_block(const std::vector<Operand>& initial,
                                            std::vector<Kind>& kinds,
                                            const Body& body) {
  for (const Operand& each : initial) kinds.push_back(each.host_kind());
  while (true) {
    Block out = body();
    bool stays = true;
    for (size_t i = 0; i < kinds.size(); ++i) {
      Kind kind = joined(kinds[i], out.results[i].host_kind());
      stays = stays && kind == kinds[i];
      kinds[i] = kind;
    }
    if (stays) return out;
  }
}

void GraphWriter::write_loop(const Node& node, Scope& scope) {
  const Graph& body = graph_of(node, "body", where(node));
  const Operand limit = input(node, 0, scope);
  const Operand condition = input(node, 1, scope);
  const size_t carried = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
  HOTARU_CHECK(body.inputs.size() == carried + 2 &&
                   body.outputs.size() >= carried + 1 &&
                   node.outputs.size() <= body.outputs.size() - 1,
               where(node), ": the body has ", body.inputs.size(),
               " inputs and ", body.outputs.size(), " outputs");
  std::vector<Operand> initial;
  for (size_t i = 0; i < carried; ++i) {
    initial.push_back(input(node, i + 2, scope));
  }
  const Operand round = variable(Kind::kInt), on = variable(Kind::kBool);
  std::vector<Operand> variables;
  for (size_t i = 0; i < carried; ++i) variables.push_back(variable({}));
  std::vector<Kind> kinds;
  Block inner = fixed_block(initial, kinds, [&] {
    Scope own{&scope, scope.attributes, scope.opsets};
    own.values[body.inputs[0].name] = round;
    own.values[body.inputs[1].name] = on;
    for (size_t i = 0; i < carried; ++i) {
      variables[i].kind = kinds[i];
      own.values[body.inputs[i + 2].name] = variables[i];
    }
    Block out = block(body, own);
    std::rotate(out.results.begin(), out.results.begin() + 1,
                out.results.end());  // the condition comes last
    return out;
  });
  const Operand again = inner.results.back();
  inner.results.pop_back();

  line(concat(round.text, " = 0"));
  line(concat(on.text, " = ",
              condition.kind == Kind::kNone
                  ? "True"
                  : argument(condition, TypeTable::boolean(), tree_)));
  for (size_t i = 0; i < carried; ++i) {
    line(concat(variables[i].text, " = ",
                argument(initial[i], kinds[i], tree_)));
  }
  std::vector<Operand> stacks;
  for (size_t i = carried; i < inner.results.size(); ++i) {
    stacks.push_back(variable(Kind::kTensors));
    line(concat(stacks.back().text, " = annotate(List[Tensor], [])"));
  }
  std::string test = on.text;
  if (limit.kind != Kind::kNone) {
    std::string most = variable(Kind::kInt).text;
    line(concat(most, " = ", argument(limit, TypeTable::integer(), tree_)));
    test = concat(on.text, " and ", round.text, " < ", most);
  }
  line(concat("while ", test, ":"));
  text_ += inner.text;
  ++indent_;
  for (size_t i = 0; i < stacks.size(); ++i) {
    line(concat(stacks[i].text, ".append(",
                argument(inner.results[carried + i], Kind::kTensor, tree_),
                ")"));
  }
  line(concat(on.text, " = ", argument(again, TypeTable::boolean(), tree_)));
  line(concat(round.text, " = ", round.text, " + 1"));
  --indent_;
  inner.results.resize(carried);
  std::string assignments;
  assign(variables, inner.results, assignments);
  text_ += assignments;
  for (size_t i = 0; i < carried; ++i) set(node, i, variables[i], scope);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const ValueInfo& info = body.outputs[carried + 1 + i];
    Operand result = variable(Kind::kTensor);
    line(concat(result.text, " = _host_stack(", stacks[i].text, ", 0, ",
                empty_shape(info), ", ", dtype_number(info), ")"));
    set(node, carried + i, result, scope);
  }
}

void GraphWriter::write_scan(const Node& node, Scope& scope) {
  const Graph& body = graph_of(node, "body", where(node));
  const Attribute* count = node.find("num_scan_inputs");
  auto domain = scope.opsets->find("");
  const bool batched = domain != scope.opsets->end() && domain->second < 9;
  HOTARU_CHECK_AS(NotImplementedError, !batched, where(node),
                  ": Scan of opset 8, which has batches, is not supported");
  const int64_t scanned = count ? count->i : -1;
  const int64_t given = int64_t(node.inputs.size());
  HOTARU_CHECK(scanned > 0 && scanned <= given &&
                   int64_t(body.inputs.size()) == given &&
                   int64_t(body.outputs.size()) >= given - scanned &&
                   node.outputs.size() <= body.outputs.size(),
               where(node), ": num_scan_inputs does not fit ", given,
               " inputs, of the body ", body.inputs.size());
  const size_t states = size_t(given - scanned);
  const size_t outputs = body.outputs.size() - states;
  const auto axes = ints_of(node, "scan_input_axes", size_t(scanned));
  const auto back = ints_of(node, "scan_input_directions", size_t(scanned));
  const auto out_axes = ints_of(node, "scan_output_axes", outputs);
  const auto out_back = ints_of(node, "scan_output_directions", outputs);

  std::vector<Operand> initial, sequences;
  for (size_t i = 0; i < size_t(given); ++i) {
    Operand value = input(node, i, scope);
    if (i < states) {
      initial.push_back(value);
      continue;
    }
    sequences.push_back(variable(Kind::kTensor));
    line(concat(sequences.back().text, " = ",
                argument(value, Kind::kTensor, tree_)));
  }
  const Operand round = variable(Kind::kInt);
  const std::string rounds = variable(Kind::kInt).text;
  line(concat(rounds, " = ", sequences[0].text, ".size(", axes[0], ")"));
  std::vector<Operand> variables, elements;
  for (size_t i = 0; i < states; ++i) variables.push_back(variable({}));
  for (size_t i = 0; i < sequences.size(); ++i) {
    elements.push_back(variable(Kind::kTensor));
  }
  std::vector<Kind> kinds;
  Block inner = fixed_block(initial, kinds, [&] {
    Scope own{&scope, scope.attributes, scope.opsets};
    for (size_t i = 0; i < states; ++i) {
      variables[i].kind = kinds[i];
      own.values[body.inputs[i].name] = variables[i];
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      own.values[body.inputs[states + i].name] = elements[i];
    }
    return block(body, own);
  });
  for (size_t i = 0; i < states; ++i) {
    line(concat(variables[i].text, " = ",
                argument(initial[i], kinds[i], tree_)));
  }
  std::vector<Operand> stacks;
  for (size_t i = 0; i < outputs; ++i) {
    stacks.push_back(variable(Kind::kTensors));
    line(concat(stacks[i].text, " = annotate(List[Tensor], [])"));
  }
  line(concat("for ", round.text, " in range(", rounds, "):"));
  ++indent_;
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::string place =
        back[i] ? concat(rounds, " - 1 - ", round.text) : round.text;
    line(concat(elements[i].text, " = torch.select(", sequences[i].text, ", ",
                axes[i], ", ", place, ")"));
  }
  --indent_;
  text_ += inner.text;
  ++indent_;
  for (size_t i = 0; i < outputs; ++i) {
    const std::string value =
        argument(inner.results[states + i], Kind::kTensor, tree_);
    line(out_back[i] ? concat(stacks[i].text, ".insert(0, ", value, ")")
                     : concat(stacks[i].text, ".append(", value, ")"));
  }
  --indent_;
  inner.results.resize(states);
  std::string assignments;
  assign(variables, inner.results, assignments);
  text_ += assignments;
  for (size_t i = 0; i < states; ++i) set(node, i, variables[i], scope);
  for (size_t i = 0; i < outputs; ++i) {
    const ValueInfo& info = body.outputs[states + i];
    Operand result = variable(Kind::kTensor);
    line(concat(result.text, " = _host_stack(", stacks[i].text, ", ",
                out_axes[i], ", ", empty_shape(info), ", ", dtype_number(info),
                ")"));
    set(node, states + i, result, scope);
  }
}

void GraphWriter::write_sequence_map(const Node& node, Scope& scope) {
  const Graph& body = graph_of(node, "body", where(node));
  HOTARU_CHECK(!node.inputs.empty() &&
                   body.inputs.size() == node.inputs.size() &&
                   node.outputs.size() <= body.outputs.size(),
               where(node), ": the body has ", body.inputs.size(), " inputs");
  const Operand round = variable(Kind::kInt);
  Scope own{&scope, scope.attributes, scope.opsets};
  std::string elements, rounds;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Operand value = input(node, i, scope);
    if (value.kind == Kind::kTensors) {
      if (i == 0) rounds = concat("len(", value.text, ")");
      Operand element = variable(Kind::kTensor);
      elements += concat(std::string((indent_ + 1) * 2, ' '), element.text,
                         " = ", value.text, "[", round.text, "]\n");
      value = element;
    }
    own.values[body.inputs[i].name] = value;
  }
  HOTARU_CHECK(!rounds.empty(), where(node),
               ": the first input is no sequence");
  Block inner = block(body, own);
  std::vector<Operand> results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    results.push_back(variable(Kind::kTensors));
    line(concat(results[i].text, " = annotate(List[Tensor], [])"));
    set(node, i, results[i], scope);
  }
  line(concat("for ", round.text, " in range(", rounds, "):"));
  text_ += elements + inner.text;
  ++indent_;
  for (size_t i = 0; i < results.size(); ++i) {
    line(concat(results[i].text, ".append(",
                argument(inner.results[i], Kind::kTensor, tree_), ")"));
  }
  --indent_;
}

}  // namespace hotaru::exchange::onnx
