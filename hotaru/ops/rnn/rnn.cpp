#include "hotaru/ops/rnn/rnn.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/rnn/lstm_train.h"
#include "hotaru/ops/rnn/rnn_cell.h"
#include "hotaru/ops/rnn/rnn_stack.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"

namespace hotaru {
namespace {

struct Sequence {
  Tensor output;
  RnnState last;
};

/// One layer in one direction step by step, with gradients.
Sequence recorded_layer(RnnMode mode, bool reverse, const Tensor& x,
                        RnnState state, const CellWeights& w) {
  if (lstm_train_fits(mode, x, state, w)) {
    LstmSequence fused = lstm_train(reverse, x, state, w);
    return {fused.output, fused.last};
  }
  const Tensors steps = unbind(projected_by(x, w.w_ih, w.b_ih), 0);
  Tensors outputs(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const size_t t = reverse ? steps.size() - 1 - i : i;
    state = rnn_step(mode, steps[t], state, w);
    outputs[t] = state.h;
  }
  return {stack(outputs, 0), state};
}

/// The same over a packed sequence: data holds batch_sizes[t] rows for each
/// step t, the longest sequences first. Forward, sequences drop out at their
/// end; backward, they join there with their initial state.
Sequence packed_layer(RnnMode mode, bool reverse, const Tensor& data,
                      const std::vector<int64_t>& batch_sizes, RnnState state,
                      const CellWeights& w) {
  const bool lstm = mode == RnnMode::kLstm;
  const Tensors steps =
      split_with_sizes(projected_by(data, w.w_ih, w.b_ih), batch_sizes, 0);
  Tensors outputs(steps.size());
  const auto rows = [](const Tensor& t, int64_t begin, int64_t end) {
    return narrow(t, 0, begin, end - begin);
  };
  const auto first_rows = [&](const RnnState& s, int64_t n) {
    return RnnState{rows(s.h, 0, n), lstm ? rows(s.c, 0, n) : Tensor()};
  };
  const auto join = [&](const RnnState& a, const RnnState& b) {
    return RnnState{cat({a.h, b.h}, 0), lstm ? cat({a.c, b.c}, 0) : Tensor()};
  };
  const RnnState initial = state;
  RnnState done;  // of sequences that ended, longest first
  const size_t count = steps.size();
  if (reverse) state = first_rows(initial, batch_sizes[count - 1]);
  for (size_t i = 0; i < count; ++i) {
    const size_t t = reverse ? count - 1 - i : i;
    const int64_t have = state.h.size(0), want = batch_sizes[t];
    if (want > have) {
      const RnnState more{rows(initial.h, have, want),
                          lstm ? rows(initial.c, have, want) : Tensor()};
      state = join(state, more);
    } else if (want < have) {
      const RnnState ended{rows(state.h, want, have),
                           lstm ? rows(state.c, want, have) : Tensor()};
      done = done.h.defined() ? join(ended, done) : ended;
      state = first_rows(state, want);
    }
    state = rnn_step(mode, steps[t], state, w);
    outputs[t] = state.h;
  }
  if (done.h.defined()) state = join(state, done);
  return {cat(outputs, 0), state};
}

/// Weights of layer and direction number i out of the flat list.
CellWeights weights_of(const Tensors& params, size_t i, const RnnShape& shape,
                       size_t count) {
  const Tensor* p = params.data() + i * count;
  CellWeights w{p[0], p[1], {}, {}, {}};
  if (shape.has_biases) {
    w.b_ih = p[2];
    w.b_hh = p[3];
  }
  if (count == 3 || count == 5) w.w_hr = p[count - 1];
  return w;
}

/// Parameters a layer and direction has: 2 weights, 2 biases, a projection.
size_t params_each(const Tensors& params, const RnnShape& shape,
                   size_t layers) {
  const size_t plain = shape.has_biases ? 4 : 2;
  HOTARU_CHECK(
      params.size() == layers * plain || params.size() == layers * (plain + 1),
      "rnn: got ", params.size(), " parameters for ", layers,
      " layers and directions, expected ", layers * plain);
  return params.size() / layers;
}

using LayerFunction = std::function<Sequence(
    bool reverse, const Tensor& x, const RnnState&, const CellWeights&)>;

bool any_grad(const Tensor& input, const Tensors& hx, const Tensors& params) {
  return autograd::needs_grad(input) || autograd::needs_grad(hx) ||
         autograd::needs_grad(params);
}

/// A network as run_layers goes through it.
struct Network {
  RnnMode mode;
  const Tensors& hx;
  const Tensors& params;
  const RnnShape& shape;
  size_t layers, directions, each;  // params_each()
  std::vector<int> lengths;         // of sequences, decreasing
  bool packed;

  Network(RnnMode mode, const Tensors& hx, const Tensors& params,
          const RnnShape& shape, std::vector<int> lengths, bool packed)
      : mode(mode),
        hx(hx),
        params(params),
        shape(shape),
        layers(size_t(shape.num_layers)),
        directions(shape.bidirectional ? 2 : 1),
        lengths(std::move(lengths)),
        packed(packed) {
    HOTARU_CHECK(shape.num_layers > 0 && shape.num_layers < (1 << 20),
                 "rnn: invalid number of layers ", shape.num_layers);
    each = params_each(params, shape, layers * directions);
    HOTARU_CHECK(hx.size() == (lstm() ? 2u : 1u),
                 "lstm expects two hidden states");
    for (const Tensor& h : hx)
      HOTARU_CHECK(h.dim() == 3 && h.size(0) >= int64_t(layers * directions),
                   "Expected more hidden states in stacked_rnn");
  }
  bool lstm() const { return mode == RnnMode::kLstm; }
  int64_t batch() const { return int64_t(lengths.size()); }
  bool drops() const { return shape.train && shape.dropout > 0; }
  CellWeights weights(size_t i) const {
    return weights_of(params, i, shape, each);
  }
  /// State of layer/direction number i. A state for one row serves every row.
  RnnState state(size_t i) const {
    RnnState out{select(hx[0], 0, int64_t(i)),
                 lstm() ? select(hx[1], 0, int64_t(i)) : Tensor()};
    for (Tensor* s : {&out.h, &out.c})
      if (s->defined() && s->size(0) == 1 && batch() != 1)
        *s = expand(*s, Dims{batch(), -1});
    return out;
  }
  /// The same of several, of the which-th state.
  Tensor states(size_t which, size_t begin, size_t count) const {
    Tensor out = hx[which];
    if (out.size(0) != int64_t(count))
      out = narrow(out, 0, int64_t(begin), int64_t(count));
    return out.size(1) == batch() ? out : expand(out, Dims{-1, batch(), -1});
  }
};

/// `count` layers from the `first` on by a device's library, if it has one that
/// takes them.
std::optional<StackOutput> layers_at_once(const Network& n, const Tensor& x,
                                          size_t first, size_t count) {
  const size_t begin = first * n.directions, size = count * n.directions;
  int64_t width = x.size(-1);
  for (size_t i = begin; i < begin + size; ++i) {
    const RnnState state = n.state(i);
    if (i == begin + n.directions)
      width = state.h.size(-1) * int64_t(n.directions);
    check_rnn(n.mode, Dims{n.batch(), width}, x.dtype(), state, n.weights(i));
  }
  RnnStack stack;
  stack.mode = n.mode;
  stack.bidirectional = n.shape.bidirectional;
  stack.has_biases = n.shape.has_biases;
  stack.packed = n.packed;
  stack.layers = int64_t(count);
  stack.steps = n.lengths.empty() ? 0 : n.lengths[0];
  stack.lengths = n.lengths;
  return stack_by_library(
      std::move(stack), x, n.states(0, begin, size),
      n.lstm() ? n.states(1, begin, size) : Tensor(),
      std::span(n.params).subspan(begin * n.each, size * n.each),
      n.shape.train);
}

/// Layer number l over x, which becomes its output; adds the last states.
void run_layer_at(const Network& n, size_t l, Tensor& x, Tensors& hs,
                  Tensors& cs, const LayerFunction& layer) {
  Tensors outputs;
  for (size_t d = 0; d < n.directions; ++d) {
    const size_t i = l * n.directions + d;
    const RnnState state = n.state(i);
    const CellWeights w = n.weights(i);
    check_rnn(n.mode, Dims{n.batch(), x.size(-1)}, x.dtype(), state, w);
    Sequence out = layer(d == 1, x, state, w);
    outputs.push_back(std::move(out.output));
    hs.push_back(std::move(out.last.h));
    if (n.lstm()) cs.push_back(std::move(out.last.c));
  }
  x = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
}

/// All layers; layer(...) runs one in one direction.
std::tuple<Tensor, Tensor, Tensor> run_layers(const Network& n, Tensor x,
                                              const LayerFunction& layer) {
  static const Kernel& library = kernel("rnn_stack");
  const bool asks = library.has(x.device().type);
  Tensors hs, cs;
  for (size_t l = 0; l < n.layers;) {
    // Dropout is our own: its numbers do not depend on who computes layers.
    const size_t count = n.drops() ? 1 : n.layers - l;
    std::optional<StackOutput> out;
    if (asks) out = layers_at_once(n, x, l, count);
    if (out && count == n.layers) return {out->y, out->h, out->c};
    if (out) {
      x = out->y;
      for (const Tensor& h : unbind(out->h, 0)) hs.push_back(h);
      if (n.lstm())
        for (const Tensor& c : unbind(out->c, 0)) cs.push_back(c);
    } else {
      run_layer_at(n, l, x, hs, cs, layer);
    }
    l += out ? count : 1;
    if (n.drops() && l < n.layers) x = dropout(x, n.shape.dropout, true);
  }
  return {x, stack(hs, 0), n.lstm() ? stack(cs, 0) : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> run(RnnMode mode, const Tensor& input,
                                       const Tensors& hx, const Tensors& params,
                                       const RnnShape& shape) {
  HOTARU_CHECK_AS(IndexError, input.dim() == 3,
                  "rnn: input must be 3-dimensional, got size ",
                  shape_text(input.sizes()));
  const Tensor x = shape.batch_first ? transpose(input, 0, 1) : input;
  HOTARU_CHECK(x.size(0) > 0,
               "Expected sequence length to be larger than 0 in RNN");
  // Only the CPU has a kernel of whole layers, whose operands have one dtype.
  const bool recorded = any_grad(input, hx, params) ||
                        !input.device().is_cpu() || autocast::active();
  const auto layer = [&](bool reverse, const Tensor& in, const RnnState& state,
                         const CellWeights& w) -> Sequence {
    if (recorded) return recorded_layer(mode, reverse, in, state, w);
    const Tensor y = allocate(Dims{in.size(0), in.size(1), state.h.size(1)},
                              in.dtype(), in.device());
    const RnnState last = run_layer(mode, y, 0, reverse, in, state, w);
    return {y, last};
  };
  const std::vector<int> lengths(size_t(x.size(1)), int(x.size(0)));
  auto [y, h, c] =
      run_layers({mode, hx, params, shape, lengths, false}, x, layer);
  return {shape.batch_first ? transpose(y, 0, 1) : y, h, c};
}

/// How long each sequence is, of the numbers of rows of each step.
std::vector<int> lengths_of(const std::vector<int64_t>& rows) {
  std::vector<int> out;
  out.resize(size_t(rows[0]));
  for (size_t t = 0; t < rows.size(); ++t)
    std::fill_n(out.begin(), size_t(rows[t]), int(t) + 1);
  return out;
}

std::tuple<Tensor, Tensor, Tensor> run_packed(RnnMode mode, const Tensor& data,
                                              const Tensor& batch_sizes,
                                              const Tensors& hx,
                                              const Tensors& params,
                                              const RnnShape& shape) {
  HOTARU_CHECK(batch_sizes.dtype() == DType::kInt64 && batch_sizes.dim() == 1 &&
                   batch_sizes.numel() > 0 && batch_sizes.device().is_cpu(),
               "rnn: batch_sizes must be a 1-d int64 tensor on the CPU");
  HOTARU_CHECK_AS(IndexError, data.dim() == 2,
                  "rnn: packed data must be 2-dimensional, got size ",
                  shape_text(data.sizes()));
  const std::vector<int64_t> rows =
      host_integers(batch_sizes, "the number of rows of each step");
  int64_t total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    HOTARU_CHECK(rows[i] > 0 && (i == 0 || rows[i] <= rows[i - 1]),
                 "rnn: batch_sizes must be positive and decreasing");
    total += rows[i];
  }
  HOTARU_CHECK(total == data.size(0), "rnn: batch_sizes add up to ", total,
               " rows, but data has ", data.size(0));
  const auto layer = [&](bool reverse, const Tensor& in, const RnnState& state,
                         const CellWeights& w) {
    return packed_layer(mode, reverse, in, rows, state, w);
  };
  return run_layers({mode, hx, params, shape, lengths_of(rows), true}, data,
                    layer);
}

// The registered forms.
std::tuple<Tensor, Tensor, Tensor> lstm_input(
    const Tensor& input, const Tensors& hx, const Tensors& params,
    bool has_biases, int64_t num_layers, double dropout, bool train,
    bool bidirectional, bool batch_first) {
  return lstm(
      input, hx, params,
      {has_biases, num_layers, dropout, train, bidirectional, batch_first});
}
std::tuple<Tensor, Tensor, Tensor> lstm_data(
    const Tensor& data, const Tensor& batch_sizes, const Tensors& hx,
    const Tensors& params, bool has_biases, int64_t num_layers, double dropout,
    bool train, bool bidirectional) {
  return run_packed(
      RnnMode::kLstm, data, batch_sizes, hx, params,
      {has_biases, num_layers, dropout, train, bidirectional, false});
}
template <RnnMode Mode>
std::tuple<Tensor, Tensor> rnn_input(const Tensor& input, const Tensor& hx,
                                     const Tensors& params, bool has_biases,
                                     int64_t num_layers, double dropout,
                                     bool train, bool bidirectional,
                                     bool batch_first) {
  auto [y, h, c] =
      run(Mode, input, {hx}, params,
          {has_biases, num_layers, dropout, train, bidirectional, batch_first});
  return {y, h};
}
template <RnnMode Mode>
std::tuple<Tensor, Tensor> rnn_data(const Tensor& data,
                                    const Tensor& batch_sizes, const Tensor& hx,
                                    const Tensors& params, bool has_biases,
                                    int64_t num_layers, double dropout,
                                    bool train, bool bidirectional) {
  auto [y, h, c] = run_packed(
      Mode, data, batch_sizes, {hx}, params,
      {has_biases, num_layers, dropout, train, bidirectional, false});
  return {y, h};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const Tensors& hx,
                                        const Tensors& params,
                                        const RnnShape& shape) {
  HOTARU_CHECK(hx.size() == 2, "lstm expects two hidden states");
  return run(RnnMode::kLstm, input, hx, params, shape);
}

HOTARU_OP(
    "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, "
    "int num_layers, float dropout, bool train, bool bidirectional, "
    "bool batch_first) -> (Tensor, Tensor, Tensor)",
    lstm_input);
HOTARU_OP(
    "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, "
    "bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional) -> (Tensor, Tensor, Tensor)",
    lstm_data);
HOTARU_OP(
    "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, "
    "int num_layers, float dropout, bool train, bool bidirectional, "
    "bool batch_first) -> (Tensor, Tensor)",
    rnn_input<RnnMode::kGru>);
HOTARU_OP(
    "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, "
    "bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional) -> (Tensor, Tensor)",
    rnn_data<RnnMode::kGru>);
HOTARU_OP(
    "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, "
    "bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
    rnn_input<RnnMode::kTanh>);
HOTARU_OP(
    "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, "
    "Tensor[] params, bool has_biases, int num_layers, float dropout, "
    "bool train, bool bidirectional) -> (Tensor, Tensor)",
    rnn_data<RnnMode::kTanh>);
HOTARU_OP(
    "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, "
    "bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
    rnn_input<RnnMode::kRelu>);
HOTARU_OP(
    "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, "
    "Tensor[] params, bool has_biases, int num_layers, float dropout, "
    "bool train, bool bidirectional) -> (Tensor, Tensor)",
    rnn_data<RnnMode::kRelu>);

}  // namespace hotaru
