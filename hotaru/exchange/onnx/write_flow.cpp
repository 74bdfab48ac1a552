// If, Loop, Scan and SequenceMap: graphs within graphs.
#include <algorithm>

#include "hotaru/core/checks/check.h"
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
  if (info.dims)
    for (const ValueInfo::Dim& dim : *info.dims)
      out += concat(", ", std::max<int64_t>(dim.size, 0));
  return out + "]";
}

int dtype_number(const ValueInfo& info) {
  return int(io::onnx::held_dtype(info.elem_type).value_or(DType::kFloat32));
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
  for (size_t i = 0; i < variables.size(); ++i)
    line(concat(variables[i].text, " = ", texts[i]));
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

// Variables for what rounds carry, in a scope under the names of the body's
// inputs from `first` on.
void GraphWriter::declare(const Graph& body, size_t first, Rounds& rounds,
                          Scope& scope) {
  for (size_t i = 0; i < rounds.variables.size(); ++i) {
    rounds.variables[i].kind = rounds.kinds[i];
    scope.values[body.inputs[first + i].name] = rounds.variables[i];
  }
}

void GraphWriter::begin(Rounds& rounds, size_t gathered) {
  for (size_t i = 0; i < rounds.variables.size(); ++i) {
    line(concat(rounds.variables[i].text, " = ",
                argument(rounds.initial[i], rounds.kinds[i], tree_)));
  }
  for (size_t i = 0; i < gathered; ++i) rounds.stacks.push_back(new_list());
}

Operand GraphWriter::new_list() {
  Operand out = variable(Kind::kTensors);
  line(concat(out.text, " = annotate(List[Tensor], [])"));
  return out;
}

// The results are those of the variables, and behind them what is gathered.
void GraphWriter::end_round(const Rounds& rounds, std::vector<Operand> results,
                            const std::vector<int64_t>& backwards) {
  ++indent_;
  const size_t carried = rounds.variables.size();
  for (size_t i = 0; i < rounds.stacks.size(); ++i) {
    const bool back = i < backwards.size() && backwards[i];
    line(concat(rounds.stacks[i].text, back ? ".insert(0, " : ".append(",
                argument(results[carried + i], Kind::kTensor, tree_), ")"));
  }
  --indent_;
  results.resize(carried);
  std::string assignments;
  assign(rounds.variables, results, assignments);
  text_ += assignments;
}

Operand GraphWriter::stacked(const Operand& list, int64_t axis,
                             const ValueInfo& element) {
  Operand out = variable(Kind::kTensor);
  line(concat(out.text, " = _host_stack(", list.text, ", ", axis, ", ",
              empty_shape(element), ", ", dtype_number(element), ", ", kDevice,
              ")"));
  return out;
}

// `first`: the body's output that is gathered first.
void GraphWriter::finish(const Node& node, const Rounds& rounds,
                         const Graph& body, size_t first,
                         const std::vector<int64_t>& axes, Scope& scope) {
  const size_t carried = rounds.variables.size();
  for (size_t i = 0; i < carried; ++i) set(node, i, rounds.variables[i], scope);
  for (size_t i = 0; i < rounds.stacks.size(); ++i) {
    set(node, carried + i,
        stacked(rounds.stacks[i], i < axes.size() ? axes[i] : 0,
                body.outputs[first + i]),
        scope);
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
  Rounds rounds;
  for (size_t i = 0; i < carried; ++i)
    rounds.initial.push_back(input(node, i + 2, scope));
  const Operand round = variable(Kind::kInt), on = variable(Kind::kBool);
  for (size_t i = 0; i < carried; ++i) rounds.variables.push_back(variable({}));
  Block inner = fixed_block(rounds.initial, rounds.kinds, [&] {
    Scope own{&scope, scope.attributes, scope.opsets};
    own.values[body.inputs[0].name] = round;
    own.values[body.inputs[1].name] = on;
    declare(body, 2, rounds, own);
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
  begin(rounds, inner.results.size() - carried);
  std::string test = on.text;
  if (limit.kind != Kind::kNone) {
    std::string most = variable(Kind::kInt).text;
    line(concat(most, " = ", argument(limit, TypeTable::integer(), tree_)));
    test = concat(on.text, " and ", round.text, " < ", most);
  }
  line(concat("while ", test, ":"));
  text_ += inner.text;
  // Results may be the round's number or the variables themselves, so none of
  // these changes before all have been read.
  const std::string more = variable(Kind::kBool).text;
  ++indent_;
  line(concat(more, " = ", argument(again, TypeTable::boolean(), tree_)));
  --indent_;
  end_round(rounds, std::move(inner.results), {});
  ++indent_;
  line(concat(on.text, " = ", more));
  line(concat(round.text, " = ", round.text, " + 1"));
  --indent_;
  finish(node, rounds, body, carried + 1, {}, scope);
}

// Until opset 8 each element of a batch is scanned for itself, and the first
// input says how long each is.
void GraphWriter::write_scan(const Node& node, Scope& scope) {
  const auto domain = scope.opsets->find("");
  const bool batched = domain != scope.opsets->end() && domain->second < 9;
  const Graph& body = graph_of(node, "body", where(node));
  const Attribute* count = node.find("num_scan_inputs");
  const size_t skipped = batched ? 1 : 0;
  const int64_t scanned = count ? count->i : -1;
  const int64_t given = int64_t(node.inputs.size()) - int64_t(skipped);
  HOTARU_CHECK(scanned > 0 && scanned <= given &&
                   int64_t(body.inputs.size()) == given &&
                   int64_t(body.outputs.size()) >= given - scanned &&
                   node.outputs.size() <= body.outputs.size(),
               where(node), ": num_scan_inputs does not fit ", given,
               " inputs, of the body ", body.inputs.size());
  const size_t states = size_t(given - scanned);
  const size_t outputs = body.outputs.size() - states;
  ScanPlan plan;
  plan.axes = ints_of(node, "scan_input_axes", size_t(scanned));
  plan.backwards = ints_of(
      node, batched ? "directions" : "scan_input_directions", size_t(scanned));
  plan.out_axes = ints_of(node, "scan_output_axes", outputs);
  plan.out_backwards = ints_of(node, "scan_output_directions", outputs);
  for (size_t i = 0; i < size_t(given); ++i) {
    const Operand value = input(node, i + skipped, scope);
    if (i < states && !batched) {
      plan.initial.push_back(value);
      continue;
    }
    Operand tensor = variable(Kind::kTensor);
    line(concat(tensor.text, " = ", argument(value, Kind::kTensor, tree_)));
    (i < states ? plan.initial : plan.sequences).push_back(tensor);
  }
  if (batched) return write_batched_scan(node, body, plan, scope);
  const std::string length = variable(Kind::kInt).text;
  line(concat(length, " = ", plan.sequences[0].text, ".size(", plan.axes[0],
              ")"));
  const Rounds rounds = write_scan_rounds(body, plan, length, scope);
  finish(node, rounds, body, states, plan.out_axes, scope);
}

GraphWriter::Rounds GraphWriter::write_scan_rounds(const Graph& body,
                                                   const ScanPlan& plan,
                                                   const std::string& length,
                                                   Scope& scope) {
  const size_t states = plan.initial.size();
  Rounds rounds{.initial = plan.initial};
  const Operand round = variable(Kind::kInt);
  std::vector<Operand> elements;
  for (size_t i = 0; i < states; ++i) rounds.variables.push_back(variable({}));
  for (size_t i = 0; i < plan.sequences.size(); ++i)
    elements.push_back(variable(Kind::kTensor));
  Block inner = fixed_block(rounds.initial, rounds.kinds, [&] {
    Scope own{&scope, scope.attributes, scope.opsets};
    declare(body, 0, rounds, own);
    for (size_t i = 0; i < elements.size(); ++i)
      own.values[body.inputs[states + i].name] = elements[i];
    return block(body, own);
  });
  begin(rounds, body.outputs.size() - states);
  line(concat("for ", round.text, " in range(", length, "):"));
  ++indent_;
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::string place =
        plan.backwards[i] ? concat(length, " - 1 - ", round.text) : round.text;
    line(concat(elements[i].text, " = torch.select(", plan.sequences[i].text,
                ", ", plan.axes[i], ", ", place, ")"));
  }
  --indent_;
  text_ += inner.text;
  end_round(rounds, std::move(inner.results), plan.out_backwards);
  return rounds;
}

void GraphWriter::write_batched_scan(const Node& node, const Graph& body,
                                     ScanPlan plan, Scope& scope) {
  const Operand lengths = input(node, 0, scope);
  std::string known;
  if (lengths.kind != Kind::kNone) {
    known = variable(Kind::kInts).text;
    line(concat(known, " = ", argument(lengths, Kind::kInts, tree_)));
  }
  const size_t states = plan.initial.size();
  std::vector<Operand> gathered;
  for (size_t i = 0; i < body.outputs.size(); ++i)
    gathered.push_back(new_list());
  const std::vector<Operand> whole = plan.sequences;
  const std::string length = variable(Kind::kInt).text;
  const std::string at = variable(Kind::kInt).text;
  line(concat("for ", at, " in range(", whole[0].text, ".size(0)):"));
  ++indent_;
  line(concat(length, " = ",
              known.empty() ? concat(whole[0].text, ".size(1)")
                            : concat(known, "[", at, "]")));
  for (auto* values : {&plan.initial, &plan.sequences}) {
    for (Operand& value : *values) {
      Operand one = variable(Kind::kTensor);
      line(concat(one.text, " = torch.select(", value.text, ", 0, ", at, ")"));
      value = one;
    }
  }
  const Rounds rounds = write_scan_rounds(body, plan, length, scope);
  for (size_t i = 0; i < gathered.size(); ++i) {
    const std::string result =
        i < states
            ? argument(rounds.variables[i], Kind::kTensor, tree_)
            : stacked(rounds.stacks[i - states], 0, body.outputs[i]).text;
    line(concat(gathered[i].text, ".append(", result, ")"));
  }
  --indent_;
  for (size_t i = 0; i < gathered.size(); ++i) {
    Operand result = variable(Kind::kTensor);
    // Shorter ones end in zeros.
    line(concat(result.text, " = _host_batch(", gathered[i].text, ", ",
                i < states ? "0" : concat(whole[0].text, ".size(1)"), ")"));
    set(node, i, result, scope);
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
    results.push_back(new_list());
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

Operand GraphWriter::applied(const Node& node, std::string_view graph,
                             Operand value, Scope& scope) {
  if (!node.find(graph)) return value;
  const Graph& body = graph_of(node, graph, where(node));
  HOTARU_CHECK(body.inputs.size() == 1 && body.outputs.size() == 1, where(node),
               ": the graph '", graph, "' has ", body.inputs.size(),
               " inputs and ", body.outputs.size(), " outputs");
  Scope inner{&scope, scope.attributes, scope.opsets};
  inner.values[body.inputs[0].name] = std::move(value);
  add_initializers(body, inner, false);
  write(body.nodes, inner);
  const Operand* result = inner.find(body.outputs[0].name);
  HOTARU_CHECK(result, where(node), ": the graph '", graph,
               "' does not give its output");
  return *result;
}

// The graphs stand between the scores, the probabilities and the result.
bool GraphWriter::write_flex_attention(const Node& node, Scope& scope) {
  if (!node.find("score_mod") && !node.find("prob_mod")) return false;
  HOTARU_CHECK_AS(NotImplementedError,
                  node.inputs.size() == 3 && node.outputs.size() == 1,
                  where(node), ": has ", node.inputs.size(), " inputs");
  const auto tensor = [&](const Operand& operand) {
    return argument(operand, Kind::kTensor, tree_);
  };
  const Attribute* scale = node.find("scale");
  const Attribute* precision = node.find("softmax_precision");
  std::string dtype = "None";
  if (precision) {
    const auto known = io::onnx::dtype_of(precision->i);
    HOTARU_CHECK_AS(
        NotImplementedError, known, where(node), ": 'softmax_precision' is ",
        io::onnx::data_type_name(precision->i), ", which hotaru has not");
    dtype = concat(int(*known));
  }
  const std::string by = scale ? script::literal(Value(double(scale->f)),
                                                 TypeTable::floating(), {})
                               : "None";
  Operand scores = variable(Kind::kTensor);
  line(concat(scores.text, " = _attention_flex_scores(",
              tensor(input(node, 0, scope)), ", ",
              tensor(input(node, 1, scope)), ", ", by, ", ", dtype, ")"));
  scores = applied(node, "score_mod", scores, scope);
  Operand shares = variable(Kind::kTensor);
  line(concat(shares.text, " = _attention_flex_probabilities(", tensor(scores),
              ")"));
  shares = applied(node, "prob_mod", shares, scope);
  Operand result = variable(Kind::kTensor);
  line(concat(result.text, " = _attention_flex_output(", tensor(shares), ", ",
              tensor(input(node, 2, scope)), ")"));
  set(node, 0, result, scope);
  return true;
}

}  // namespace hotaru::exchange::onnx
