// Recurrent networks.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

// How ONNX calls a kind of cell, and its gates in PyTorch's order.
struct Cell {
  const char* op;
  std::vector<int64_t> gates;
  std::vector<std::string> activations;
  bool memory = false;
};

const Cell& lstm_cells() {
  static const Cell cell{"LSTM", {0, 3, 1, 2}, {}, true};
  return cell;
}
const Cell& gru_cells() {
  static const Cell cell{"GRU", {1, 0, 2}, {}, false};
  return cell;
}
const Cell& tanh_cells() {
  static const Cell cell{"RNN", {0}, {"Tanh"}, false};
  return cell;
}
const Cell& relu_cells() {
  static const Cell cell{"RNN", {0}, {"Relu"}, false};
  return cell;
}

// A weight with its gates in ONNX's order.
std::string in_order(const Lowering& l, const std::string& weight,
                     const Cell& cell, int64_t hidden) {
  if (cell.gates.size() == 1) return weight;
  Ints rows;
  for (int64_t gate : cell.gates)
    for (int64_t i = 0; i < hidden; ++i) rows.push_back(gate * hidden + i);
  return l.op("Gather", {weight, l.ints(rows)}, {attr("axis", 0)});
}

std::string stacked(const Lowering& l, const Names& parts) {
  Names rows;
  for (const std::string& part : parts) rows.push_back(l.unsqueeze(part, {0}));
  return rows.size() == 1 ? rows[0] : l.op("Concat", rows, {attr("axis", 0)});
}

void recurrent(Lowering& l, const Cell& cell) {
  if (l.has("batch_sizes")) l.refuse("packed sequences have no form in ONNX");
  const bool bias = l.flag("has_biases");
  const int64_t layers = l.integer("num_layers");
  const bool both = l.flag("bidirectional");
  const bool first = l.flag("batch_first");
  if (l.flag("train") && l.real("dropout") > 0 && layers > 1)
    l.refuse("dropout between layers in training mode");
  const DType of = l.dtype();
  const size_t directions = both ? 2 : 1;
  const std::vector<Symbol>& params = l.at("params").items();
  const size_t each = bias ? 4 : 2;
  if (params.size() != size_t(layers) * directions * each)
    l.refuse("projections have no form in ONNX");
  const auto hidden = params[1].cell->example.size(1);
  if (!hidden) l.refuse("weights of a dynamic size");
  const bool batched = l.rank() == 3;
  std::string x = l.tensor(0);
  if (!batched) x = l.unsqueeze(x, {1});
  if (batched && first) x = l.transpose(x, {1, 0, 2});
  const Symbol& state = l.at("hx");
  auto initial = [&](size_t which) {
    const Symbol& one = state.is_tensor() ? state : state.items()[which];
    const std::string h = l.tensor(one, of);
    return batched ? h : l.unsqueeze(h, {1});
  };
  const std::string h0 = initial(0);
  const std::string c0 = cell.memory ? initial(1) : "";
  Names hs, cs;
  for (int64_t layer = 0; layer < layers; ++layer) {
    Names w, r, b;
    for (size_t d = 0; d < directions; ++d) {
      const size_t at = (size_t(layer) * directions + d) * each;
      auto param = [&](size_t i) {
        return in_order(l, l.tensor(params[at + i], of), cell, *hidden);
      };
      w.push_back(param(0));
      r.push_back(param(1));
      if (bias)
        b.push_back(l.op("Concat", {param(2), param(3)}, {attr("axis", 0)}));
    }
    const int64_t from = layer * int64_t(directions);
    const int64_t to = from + int64_t(directions);
    const bool only = layers == 1;
    Names inputs = {x,
                    stacked(l, w),
                    stacked(l, r),
                    bias ? stacked(l, b) : "",
                    "",
                    only ? h0 : l.slice(h0, 0, from, to)};
    if (cell.memory) inputs.push_back(only ? c0 : l.slice(c0, 0, from, to));
    std::vector<Attribute> attributes = {
        attr("hidden_size", *hidden),
        attr("direction", both ? "bidirectional" : "forward")};
    if (!cell.activations.empty()) {
      std::vector<std::string> names;
      for (size_t d = 0; d < directions; ++d)
        names.push_back(cell.activations[0]);
      attributes.push_back(attr("activations", names));
    }
    if (cell.gates.size() == 3)
      attributes.push_back(attr("linear_before_reset", 1));
    const Names out = l.many(cell.op, inputs, cell.memory ? 3 : 2, attributes);
    // [length, directions, batch, hidden] to [length, batch, all hidden].
    x = both ? l.reshape(l.transpose(out[0], {0, 2, 1, 3}), {0, 0, -1})
             : l.squeeze(out[0], {1});
    hs.push_back(out[1]);
    if (cell.memory) cs.push_back(out[2]);
  }
  auto all = [&](const Names& parts) {
    const std::string h =
        parts.size() == 1 ? parts[0] : l.op("Concat", parts, {attr("axis", 0)});
    return batched ? h : l.squeeze(h, {1});
  };
  if (batched && first) x = l.transpose(x, {1, 0, 2});
  if (!batched) x = l.squeeze(x, {1});
  Names results = {x, all(hs)};
  if (cell.memory) results.push_back(all(cs));
  l.results(results);
}

// One step: gates of the input and of the state, in PyTorch's order.
Names gates(const Lowering& l, const std::string& x, const char* weight,
            const char* bias, int count, bool split = true) {
  const DType of = l.out().dtype();
  const int64_t rank = l.example("input").dim();
  std::string y =
      l.op("MatMul", {x, l.transpose(l.tensor(weight, of), {1, 0})});
  if (l.given(bias)) y = l.op("Add", {y, l.tensor(bias, of)});
  if (!split) return {y};
  std::vector<Attribute> attributes = {attr("axis", rank - 1)};
  if (l.opset() >= 18) attributes.push_back(attr("num_outputs", count));
  return l.many("Split", {y}, size_t(count), attributes);
}

void lstm_cell(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string h = l.tensor(l.at("hx").items()[0], of);
  const std::string c = l.tensor(l.at("hx").items()[1], of);
  const std::string sum =
      l.op("Add", {gates(l, l.tensor("input", of), "w_ih", "b_ih", 4, false)[0],
                   gates(l, h, "w_hh", "b_hh", 4, false)[0]});
  std::vector<Attribute> attributes = {
      attr("axis", l.example("input").dim() - 1)};
  if (l.opset() >= 18) attributes.push_back(attr("num_outputs", 4));
  const Names g = l.many("Split", {sum}, 4, attributes);
  const std::string kept = l.op("Mul", {l.op("Sigmoid", {g[1]}), c});
  const std::string added =
      l.op("Mul", {l.op("Sigmoid", {g[0]}), l.op("Tanh", {g[2]})});
  const std::string memory = l.op("Add", {kept, added});
  l.results(
      {l.op("Mul", {l.op("Sigmoid", {g[3]}), l.op("Tanh", {memory})}), memory});
}

void gru_cell(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string h = l.tensor("hx", of);
  const Names x = gates(l, l.tensor("input", of), "w_ih", "b_ih", 3);
  const Names y = gates(l, h, "w_hh", "b_hh", 3);
  const std::string reset = l.op("Sigmoid", {l.op("Add", {x[0], y[0]})});
  const std::string update = l.op("Sigmoid", {l.op("Add", {x[1], y[1]})});
  const std::string fresh =
      l.op("Tanh", {l.op("Add", {x[2], l.op("Mul", {reset, y[2]})})});
  const std::string way = l.op("Sub", {h, fresh});
  l.result(l.op("Add", {fresh, l.op("Mul", {update, way})}));
}

template <Text kOp>
void rnn_cell(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string sum =
      l.op("Add", {gates(l, l.tensor("input", of), "w_ih", "b_ih", 1, false)[0],
                   gates(l, l.tensor("hx", of), "w_hh", "b_hh", 1, false)[0]});
  l.result(l.op(kOp.data, {sum}));
}

constexpr Row kRnnRows[] = {
    {"lstm", [](Lowering& l) { recurrent(l, lstm_cells()); }},
    {"gru", [](Lowering& l) { recurrent(l, gru_cells()); }},
    {"rnn_tanh", [](Lowering& l) { recurrent(l, tanh_cells()); }},
    {"rnn_relu", [](Lowering& l) { recurrent(l, relu_cells()); }},
    {"lstm_cell", lstm_cell},
    {"gru_cell", gru_cell},
    {"rnn_tanh_cell", rnn_cell<"Tanh">},
    {"rnn_relu_cell", rnn_cell<"Relu">},
};

}  // namespace

Rows rnn_rows() {
  return kRnnRows;
}

}  // namespace hotaru::exchange::onnx_out
