// Calls of operators: known results are computed, others become nodes.
#include <algorithm>
#include <utility>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/exchange/onnx_out/table.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/passes/passes.h"
#include "hotaru/script/run/foreign.h"

namespace hotaru::exchange::onnx_out {

using script::TypeKind;

namespace {

// Tensors of more elements are computed by the graph, not kept in the file.
constexpr int64_t kMaxFolded = 1 << 16;
constexpr Device kMeta{DeviceType::kMeta};

bool is_in_place(const Operator& op) {
  const Schema& schema = op.schema();
  return !schema.arguments.empty() && schema.arguments[0].type.written;
}

// The geometry of what is written to.
std::optional<Example> sizes_before(const Operator& op,
                                    const std::vector<Symbol>& inputs) {
  if (!is_in_place(op) || inputs.empty() || !inputs[0].is_tensor()) return {};
  auto same = [](const Tensor& x) {
    return empty(Dims(x.sizes()),
                 TensorOptions(x.dtype(), Device{DeviceType::kMeta}));
  };
  const Example& example = inputs[0].cell->example;
  return Example{same(example.first), same(example.second)};
}

// Values on the meta device, whatever device the program asks for.
void move_to_meta(const Schema& schema, std::vector<Value>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const bool device = i < schema.arguments.size() &&
                        schema.arguments[i].type.kind == ArgKind::kDevice;
    if (device || values[i].is_device()) values[i] = Value(kMeta);
  }
}

void result_to_meta(Value& value) {
  if (value.is_tensor()) {
    const Tensor tensor = value.as_tensor();
    if (tensor.device().type != DeviceType::kMeta) value = meta_of(tensor);
  } else if (value.is_list()) {
    for (Value& item : value.as_list().items) result_to_meta(item);
  }
}

// A constant's tensors as themselves.
std::optional<Value> constant_value(const Symbol& symbol) {
  if (symbol.is_tensor()) {
    const Tensor& tensor = symbol.cell->constant;
    if (!tensor.defined() || symbol.cell->base) return std::nullopt;
    return Value(tensor);
  }
  if ((symbol.is_list() && !symbol.is_sequence()) || symbol.is_tuple()) {
    std::vector<Value> values;
    for (const Symbol& item : symbol.items()) {
      std::optional<Value> value = constant_value(item);
      if (!value) return std::nullopt;
      values.push_back(std::move(*value));
    }
    return symbol.is_list() ? Value::list(std::move(values))
                            : Value::tuple(std::move(values));
  }
  return symbol.known();
}

bool fits(const Value& value) {
  if (value.is_tensor()) return value.tensor_ref().numel() <= kMaxFolded;
  if (!value.is_list()) return true;
  const auto& items = value.as_list().items;
  return std::all_of(items.begin(), items.end(), fits);
}

bool has_tensor(const Symbol& symbol) {
  if (symbol.is_tensor()) return true;
  if (!symbol.is_list() && !symbol.is_tuple()) return false;
  return symbol.is_sequence() ||
         std::any_of(symbol.items().begin(), symbol.items().end(), has_tensor);
}

Example example_of(const Value& first, const Value& second) {
  return {first.as_tensor(), second.as_tensor()};
}

}  // namespace

std::string qualified_name(const Operator& op) {
  const Schema& schema = op.schema();
  std::string out = script::qualified(schema.name);
  if (!schema.overload.empty()) out += "." + schema.overload;
  return out;
}

void Exporter::call_operator(const Node& node, Frame& frame) {
  std::vector<Symbol> outputs;
  try {
    outputs = results(node, inputs(node, frame));
  } catch (const ExportError&) {
    throw;
  } catch (const Error& error) {
    const std::string name = qualified_name(*node.op);
    const std::string what = error.what();
    throw ExportError(concat(what.starts_with(name) ? "" : name + ": ", what,
                             "\n", node.range.highlight()));
  }
  HOTARU_CHECK(outputs.size() >= node.outputs.size(),
               "internal error: ", qualified_name(*node.op), " gave ",
               outputs.size(), " results");
  for (size_t i = 0; i < node.outputs.size(); ++i)
    frame[node.out(i)] = std::move(outputs[i]);
}

std::vector<Symbol> Exporter::results(const Node& node,
                                      std::vector<Symbol> inputs) {
  if (const Row* row = find_host_row(*node.op)) {
    Lowering lowering(*this, *node.op, inputs);
    row->build(lowering);
    if (!lowering.symbols().empty() || node.outputs.empty())
      return std::move(lowering.symbols());
  }
  if (std::optional<std::vector<Symbol>> known = folded(node, inputs))
    return std::move(*known);
  return lowered(node, std::move(inputs));
}

std::optional<std::vector<Symbol>> Exporter::folded(
    const Node& node, const std::vector<Symbol>& inputs) {
  if (script::has_side_effects(node) || is_in_place(*node.op))
    return std::nullopt;
  std::vector<Value> values;
  bool tensors = false;
  for (const Symbol& input : inputs) {
    std::optional<Value> value = constant_value(input);
    if (!value) return std::nullopt;
    tensors = tensors || has_tensor(input);
    values.push_back(std::move(*value));
  }
  const Schema& schema = node.op->schema();
  for (const Argument& result : schema.results) {
    // A view of a constant shares what may be written.
    if (result.type.alias && tensors) return std::nullopt;
  }
  if (!tensors) {
    // How large the result is, before it is made.
    std::vector<Value> out[2];
    std::string why;
    if (evaluate(*node.op, inputs, out, why) &&
        !std::all_of(out[0].begin(), out[0].end(), fits))
      return std::nullopt;
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].is_device()) values[i] = Value(Device{});
  const autograd::NoGrad no_grad;
  std::vector<Value> results(std::max<size_t>(schema.results.size(), 1));
  node.op->call(values.data(), results.data());
  if (!std::all_of(results.begin(), results.end(), fits)) return std::nullopt;
  std::vector<Symbol> out;
  for (const Value& value : results) {
    out.push_back(symbol_of(value));
    if (out.back().is_tensor()) out.back().cell->depth = emitter_.depth();
  }
  return out;
}

bool Exporter::evaluate(const Operator& op, const std::vector<Symbol>& inputs,
                        std::vector<Value> (&out)[2], std::string& why) {
  const Schema& schema = op.schema();
  const bool varies =
      std::any_of(inputs.begin(), inputs.end(),
                  [](const Symbol& input) { return input.varies(); });
  const autograd::NoGrad no_grad;
  for (int world = 0; world < 2; ++world) {
    if (world == 1 && !varies) {
      out[1] = out[0];
      return true;
    }
    std::vector<Value> values;
    for (const Symbol& input : inputs) values.push_back(input.in_world(world));
    move_to_meta(schema, values);
    out[world].resize(std::max<size_t>(schema.results.size(), 1));
    try {
      op.call(values.data(), out[world].data());
    } catch (const std::exception& error) {
      why = error.what();
      if (world == 1)
        why = concat("with other sizes of the dynamic dimensions: ", why);
      return false;
    }
    for (Value& value : out[world]) result_to_meta(value);
  }
  return true;
}

namespace {

/// The name of an operator that a program defined, where a call is of one.
std::string own_operator(const Operator& op,
                         const std::vector<Symbol>& inputs) {
  if (op.schema().name != "call_foreign" || !inputs[0].is_host() ||
      !inputs[0].host.is_object() || !inputs[1].is_tuple())
    return {};
  const auto* callee =
      dynamic_cast<script::ForeignFunction*>(inputs[0].host.as_object());
  return callee ? callee->operator_name() : std::string();
}

}  // namespace

const Symbolic* Exporter::symbolic_of(const Operator& op,
                                      std::string name) const {
  name.resize(std::min(name.find('.'), name.size()));
  if (is_in_place(op) && name.ends_with('_')) name.pop_back();
  const auto found = symbolics_.find(name);
  return found == symbolics_.end() ? nullptr : &found->second;
}

std::vector<Symbol> Exporter::symbolic_results(
    const Node& node, const Symbolic& symbolic,
    const std::vector<Symbol>& inputs, const std::vector<Value> (&out)[2]) {
  const Names names = symbolic(*this, inputs);
  // An operator that a program defined gives several as a tuple.
  const bool tuple = out[0][0].is_tuple();
  const auto& firsts = tuple ? out[0][0].as_tuple().items : out[0];
  const auto& seconds = tuple ? out[1][0].as_tuple().items : out[1];
  const size_t count = node.outputs.empty() ? names.size() : firsts.size();
  HOTARU_CHECK(names.size() == count, "its symbolic function gave ",
               names.size(), " values, where the operator has ", count);
  if (is_in_place(*node.op) && inputs[0].is_tensor()) {
    HOTARU_CHECK(count > 0, "its symbolic function gave no value");
    const std::shared_ptr<Cell> cell = inputs[0].cell;
    read(*cell);
    touch(cell);
    write(*cell, names[0]);
    return {inputs[0]};
  }
  std::vector<Symbol> outputs;
  for (size_t i = 0; i < (node.outputs.empty() ? 0 : count); ++i) {
    const Value &first = firsts[i], &second = seconds[i];
    if (first.is_tensor()) {
      outputs.push_back(new_tensor(names[i], example_of(first, second)));
      continue;
    }
    HOTARU_CHECK_AS(NotImplementedError,
                    first.is_number() && !first.is_complex(),
                    "its result is a ", first.type_name(),
                    ", which a symbolic function can't give");
    outputs.push_back(
        Symbol::of_number(names[i], number_dtype(first), first, second));
  }
  if (tuple) return {Symbol::tuple_of(std::move(outputs))};
  return outputs;
}

std::vector<Example> Exporter::before_rounding(
    const Operator& op, const std::vector<Symbol>& inputs) {
  if (!is_in_place(op) || !op.name().ends_with('_')) return {};
  const Operator* plain = Registry::instance().find(
      op.name().substr(0, op.name().size() - 1), op.schema().overload);
  std::vector<Value> out[2];
  std::string why;
  if (!plain || plain->schema().arguments.size() != inputs.size() ||
      !evaluate(*plain, inputs, out, why) || !out[0][0].is_tensor() ||
      out[0][0].tensor_ref().dtype() == inputs[0].cell->example.dtype())
    return {};
  return {example_of(out[0][0], out[1][0])};
}

std::vector<Symbol> Exporter::lowered(const Node& node,
                                      std::vector<Symbol> inputs) {
  std::vector<Value> out[2];
  std::string why;
  const std::vector<Example> rounded = before_rounding(*node.op, inputs);
  const std::optional<Example> before = sizes_before(*node.op, inputs);
  const bool evaluated = evaluate(*node.op, inputs, out, why);
  if (!symbolics_.empty()) {
    const std::string own = own_operator(*node.op, inputs);
    const Symbolic* symbolic =
        symbolic_of(*node.op, own.empty() ? qualified_name(*node.op) : own);
    if (symbolic) {
      HOTARU_CHECK(evaluated, why);
      return symbolic_results(node, *symbolic,
                              own.empty() ? inputs : inputs[1].items(), out);
    }
  }
  const bool in_place = is_in_place(*node.op);
  const bool tensors = std::any_of(inputs.begin(), inputs.end(), has_tensor);
  const bool number =
      !node.outputs.empty() && node.out()->type->kind != TypeKind::kTensor;
  if (number) {
    // Shape and dtype may say the number.
    if (evaluated && tensors && out[0].size() == 1 && !out[0][0].is_list() &&
        !out[0][0].is_tensor() && same_value(out[0][0], out[1][0]))
      return {out[0][0]};
    if (const Row* row = find_number_row(*node.op)) {
      Lowering lowering(*this, *node.op, inputs);
      if (evaluated) lowering.set_value(out[0][0]);
      row->build(lowering);
      if (!lowering.symbols().empty()) return std::move(lowering.symbols());
      HOTARU_CHECK(evaluated, why);
      HOTARU_CHECK(!lowering.names().empty(), "internal error: no result");
      return {Symbol::of_number(lowering.names()[0], number_dtype(out[0][0]),
                                out[0][0], out[1][0])};
    }
  }
  const Row* row = find_row(*node.op);
  if (!row) return missing_results(node, out, evaluated ? "" : why);
  if (evaluated && !in_place && tensors && node.outputs.size() == 1 &&
      out[0][0].is_tensor()) {
    // Some operators give their argument, as contiguous() may.
    for (const Symbol& input : inputs)
      if (input.is_tensor() &&
          out[0][0].tensor_ref().is_same(input.cell->example.first) &&
          out[1][0].tensor_ref().is_same(input.cell->example.second))
        return {input};
  }
  Lowering lowering(*this, *node.op, inputs);
  if (row->examples) {
    row->examples(lowering);
  } else {
    HOTARU_CHECK(evaluated, why);
    std::vector<Example> outs;
    for (size_t i = 0; i < out[0].size(); ++i)
      if (out[0][i].is_tensor())
        outs.push_back(example_of(out[0][i], out[1][i]));
    if (out[0].size() == 1 && out[0][0].is_list()) {
      const auto& first = out[0][0].as_list().items;
      const auto& second = out[1][0].as_list().items;
      HOTARU_CHECK_AS(NotImplementedError, first.size() == second.size(),
                      "the number of results depends on a dynamic dimension");
      for (size_t i = 0; i < first.size(); ++i)
        if (first[i].is_tensor())
          outs.push_back(example_of(first[i], second[i]));
    }
    lowering.set_outs(rounded.empty() ? std::move(outs) : rounded);
  }
  if (before) {
    // Sizes that the operator changes are those of its argument for the row.
    Example after = std::exchange(inputs[0].cell->example, *before);
    row->build(lowering);
    inputs[0].cell->example = std::move(after);
  } else {
    row->build(lowering);
  }
  if (in_place) {
    HOTARU_CHECK(inputs[0].is_tensor(), "internal error: a write to no tensor");
    std::shared_ptr<Cell> cell = inputs[0].cell;
    if (lowering.names().empty()) return inputs;
    std::string name = lowering.names()[0];
    if (!rounded.empty())
      name = lowering.cast(name, rounded[0].dtype(), cell->example.dtype());
    read(*cell);
    touch(cell);
    write(*cell, name);
    return {inputs[0]};
  }
  if (!lowering.symbols().empty()) return std::move(lowering.symbols());
  std::vector<Symbol> outputs;
  HOTARU_CHECK(lowering.names().size() <= lowering.outs(),
               "internal error: more names than results");
  for (size_t i = 0; i < lowering.names().size(); ++i)
    outputs.push_back(new_tensor(lowering.names()[i], lowering.out(i)));
  if (!row->examples) link_view(node, inputs, outputs);
  if (!node.outputs.empty() && node.out()->type->kind == TypeKind::kList)
    return {Symbol::list_of(std::move(outputs), emitter_.depth())};
  return outputs;
}

std::vector<Symbol> Exporter::missing_results(
    const Node& node, const std::vector<Value> (&out)[2],
    const std::string& why) {
  Missing& missing = missing_[qualified_name(*node.op)];
  if (!counted_[&node]) {
    counted_[&node] = true;
    ++missing.count;
    if (missing.where.empty()) missing.where = node.range.highlight();
  }
  // Without results the walk ends here.
  if (!why.empty() || out[0].size() < node.outputs.size()) throw Incomplete();
  std::vector<Symbol> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value& first = out[0][i];
    const Value& second = out[1][i];
    if (first.is_tensor()) {
      outputs.push_back(new_tensor("missing", example_of(first, second)));
    } else if (first.is_number() && !first.is_complex()) {
      outputs.push_back(
          Symbol::of_number("missing", number_dtype(first), first, second));
    } else {
      throw Incomplete();
    }
  }
  return outputs;
}

}  // namespace hotaru::exchange::onnx_out
