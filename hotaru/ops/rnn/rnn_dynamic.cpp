// Recurrent layers of floats that compute in 8-bit integers.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/matmul/quantized.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// The weights of one layer in one direction, [gates * hidden, columns] int8
/// with a scale each; biases may be undefined.
struct DynamicCell {
  Tensor w_ih, w_hh, s_ih, s_hh, b_ih, b_hh;
};

/// h, and c of an LSTM.
using State = std::vector<Tensor>;

State lstm_step(const Tensor& gates, const State& state) {
  const Tensors parts = chunk(gates, 4, -1);
  const Tensor c = add(mul(sigmoid(parts[1]), state[1]),
                       mul(sigmoid(parts[0]), tanh(parts[2])));
  return {mul(sigmoid(parts[3]), tanh(c)), c};
}

State gru_step(const Tensor& of_input, const Tensor& of_state,
               const State& state) {
  const Tensors in = chunk(of_input, 3, -1), own = chunk(of_state, 3, -1);
  const Tensor reset = sigmoid(add(in[0], own[0]));
  const Tensor update = sigmoid(add(in[1], own[1]));
  const Tensor made = tanh(add(in[2], mul(reset, own[2])));
  return {add(made, mul(update, sub(state[0], made)))};
}

struct DynamicSequence {
  Tensor output;
  State last;
};

/// One layer in one direction over x [T, B, columns]: the input is quantised as
/// a whole, the state in each step, as PyTorch does.
DynamicSequence layer(const Tensor& x, State state, const DynamicCell& cell,
                      bool backwards) {
  const Tensors steps =
      unbind(linear_dynamic(x, cell.w_ih, cell.s_ih, {}, cell.b_ih, true), 0);
  Tensors outputs(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const size_t t = backwards ? steps.size() - 1 - i : i;
    const Tensor of_state =
        linear_dynamic(state[0], cell.w_hh, cell.s_hh, {}, cell.b_hh, true);
    state = state.size() == 2 ? lstm_step(add(steps[t], of_state), state)
                              : gru_step(steps[t], of_state, state);
    outputs[t] = state[0];
  }
  return {stack(outputs, 0), state};
}

/// `steps`: the dimension of steps.
void check(const char* op, const Tensor& input, const Tensors& hx,
           const Tensors& weights, const Tensors& scales, const Tensors& biases,
           size_t cells, int64_t gates, int64_t steps) {
  HOTARU_CHECK(input.dim() == 3, op,
               "the input should have three dimensions, got shape ",
               shape_text(input.sizes()));
  HOTARU_CHECK(input.size(steps) > 0,
               "Expected sequence length to be larger than 0 in RNN");
  HOTARU_CHECK(weights.size() == 2 * cells && scales.size() == 2 * cells &&
                   (biases.empty() || biases.size() == 2 * cells),
               op, "for ", cells, " layers and directions there should be ",
               2 * cells, " weights, as many scales and biases or none, got ",
               weights.size(), ", ", scales.size(), " and ", biases.size());
  for (const Tensor& state : hx)
    HOTARU_CHECK(state.dim() == 3 && size_t(state.size(0)) == cells, op,
                 "states should be [", cells, ", batch, hidden], got shape ",
                 shape_text(state.sizes()));
  for (size_t i = 0; i < weights.size(); ++i)
    HOTARU_CHECK(
        weights[i].dim() == 2 && weights[i].size(0) == gates * hx[0].size(2),
        op, "weight ", i, " should have ", gates, " times ", hx[0].size(2),
        " rows, got shape ", shape_text(weights[i].sizes()));
}

/// The output, then the states behind the last step.
Tensors run(const Tensor& input, const Tensors& hx, const Tensors& weights,
            const Tensors& scales, const Tensors& biases, int64_t num_layers,
            bool bidirectional, bool batch_first) {
  const autograd::NoGrad no_grad;
  const size_t directions = bidirectional ? 2 : 1;
  Tensor x = batch_first ? transpose(input, 0, 1) : input;
  std::vector<Tensors> last(hx.size());
  for (size_t l = 0; l < size_t(num_layers); ++l) {
    Tensors outputs;
    for (size_t d = 0; d < directions; ++d) {
      const size_t at = l * directions + d, w = 2 * at;
      const auto bias = [&](size_t i) {
        return biases.empty() ? Tensor() : biases[i];
      };
      State state;
      for (const Tensor& h : hx) state.push_back(select(h, 0, int64_t(at)));
      const DynamicSequence made = layer(x, state,
                                         {weights[w], weights[w + 1], scales[w],
                                          scales[w + 1], bias(w), bias(w + 1)},
                                         d == 1);
      outputs.push_back(made.output);
      for (size_t i = 0; i < hx.size(); ++i) last[i].push_back(made.last[i]);
    }
    x = directions == 2 ? cat(outputs, -1) : outputs[0];
  }
  Tensors out{batch_first ? transpose(x, 0, 1) : x};
  for (const Tensors& states : last) out.push_back(stack(states, 0));
  return out;
}

size_t cells_of(int64_t num_layers, bool bidirectional) {
  return size_t(num_layers > 0 ? num_layers : 0) * (bidirectional ? 2 : 1);
}

/// As lstm, evaluating, with weights of int8 (w_ih and w_hh of each layer and
/// direction), a scale and maybe a bias for each, in the integers of
/// hotaru::linear_dynamic. No gradient.
std::tuple<Tensor, Tensor, Tensor> lstm_dynamic(
    const Tensor& input, const Tensors& hx, const Tensors& weights,
    const Tensors& scales, const Tensors& biases, int64_t num_layers,
    bool bidirectional, bool batch_first) {
  constexpr const char* kName = "lstm_dynamic: ";
  HOTARU_CHECK(hx.size() == 2, kName, "there should be two states, got ",
               hx.size());
  check(kName, input, hx, weights, scales, biases,
        cells_of(num_layers, bidirectional), 4, batch_first);
  const Tensors made = run(input, hx, weights, scales, biases, num_layers,
                           bidirectional, batch_first);
  return {made[0], made[1], made[2]};
}

/// As gru, likewise.
std::tuple<Tensor, Tensor> gru_dynamic(const Tensor& input, const Tensor& hx,
                                       const Tensors& weights,
                                       const Tensors& scales,
                                       const Tensors& biases,
                                       int64_t num_layers, bool bidirectional,
                                       bool batch_first) {
  check("gru_dynamic: ", input, {hx}, weights, scales, biases,
        cells_of(num_layers, bidirectional), 3, batch_first);
  const Tensors made = run(input, {hx}, weights, scales, biases, num_layers,
                           bidirectional, batch_first);
  return {made[0], made[1]};
}

HOTARU_OP(
    "hotaru::lstm_dynamic(Tensor input, Tensor[] hx, Tensor[] weights, "
    "Tensor[] scales, Tensor[] biases, int num_layers, bool bidirectional, "
    "bool batch_first) -> (Tensor, Tensor, Tensor)",
    lstm_dynamic);
HOTARU_OP(
    "hotaru::gru_dynamic(Tensor input, Tensor hx, Tensor[] weights, Tensor[] "
    "scales, Tensor[] biases, int num_layers, bool bidirectional, bool "
    "batch_first) -> (Tensor, Tensor)",
    gru_dynamic);

}  // namespace
}  // namespace hotaru
