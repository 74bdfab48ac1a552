#include "hotaru/ops/rnn/rnn_cell.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/rnn/rnn.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const char* bias_name(size_t i) {
  return i == 0 ? "bias_ih" : "bias_hh";
}

}  // namespace

void check_rnn(RnnMode mode, IntSpan x, DType dtype, const RnnState& state,
               const CellWeights& w) {
  HOTARU_CHECK(w.w_ih.dim() == 2 && w.w_hh.dim() == 2,
               "rnn: weights must be matrices, got weight_ih of size ",
               shape_text(w.w_ih.sizes()), " and weight_hh of size ",
               shape_text(w.w_hh.sizes()));
  const int64_t gates = rnn_gates(mode);
  const int64_t hidden = w.w_hh.size(1);
  const int64_t cells = w.w_hr.defined() ? w.w_hr.size(-1) : hidden;
  const int64_t rows_given = x[0];
  HOTARU_CHECK(x[1] == w.w_ih.size(1),
               "input has inconsistent input_size: got ", x[1], " expected ",
               w.w_ih.size(1));
  const auto check_state = [&](const Tensor& t, int64_t size, int i) {
    HOTARU_CHECK(t.dim() == 2, "hidden", i, " must be 2-dimensional, got size ",
                 shape_text(t.sizes()));
    HOTARU_CHECK(t.size(0) == rows_given, "Input batch size ", rows_given,
                 " doesn't match hidden", i, " batch size ", t.size(0));
    HOTARU_CHECK(t.size(1) == size, "hidden", i,
                 " has inconsistent hidden_size: got ", t.size(1),
                 ", expected ", size);
  };
  check_state(state.h, hidden, 0);
  if (mode == RnnMode::kLstm) check_state(state.c, cells, 1);
  const int64_t rows = gates * cells;
  HOTARU_CHECK(w.w_ih.size(0) == rows, "weight_ih first dim must be ", gates,
               " * hidden_size = ", rows, ", but got ", w.w_ih.size(0));
  HOTARU_CHECK(w.w_hh.size(0) == rows, "weight_hh first dim must be ", gates,
               " * hidden_size = ", rows, ", but got ", w.w_hh.size(0));
  const Tensor* biases[] = {&w.b_ih, &w.b_hh};
  for (size_t i = 0; i < 2; ++i)
    if (biases[i]->defined())
      HOTARU_CHECK(biases[i]->dim() == 1 && biases[i]->size(0) == rows,
                   bias_name(i), " must have ", rows, " elements, got size ",
                   shape_text(biases[i]->sizes()));
  if (w.w_hr.defined())
    HOTARU_CHECK(w.w_hr.dim() == 2 && w.w_hr.size(0) == hidden,
                 "weight_hr must be [", hidden, ", ", cells, "], got ",
                 shape_text(w.w_hr.sizes()));
  for (const Tensor* t :
       {&state.h, &state.c, &w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr})
    HOTARU_CHECK(!t->defined() || t->dtype() == dtype || autocast::active(),
                 "rnn: expected scalar type ", scalar_type_name(dtype),
                 " but found ",
                 t->defined() ? scalar_type_name(t->dtype()) : "");
}

Tensor projected_by(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return linear(autocast::lowered(x), autocast::lowered(weight),
                autocast::lowered(bias));
}

RnnState rnn_step(RnnMode mode, const Tensor& projected, const RnnState& state,
                  const CellWeights& w) {
  const Tensor q = projected_by(state.h, w.w_hh, w.b_hh);
  if (mode == RnnMode::kTanh) return {tanh(add(projected, q)), {}};
  if (mode == RnnMode::kRelu) return {relu(add(projected, q)), {}};
  if (mode == RnnMode::kGru) {
    const Tensors g = chunk(projected, 3, -1), h = chunk(q, 3, -1);
    const Tensor r = sigmoid(add(g[0], h[0]));
    const Tensor z = sigmoid(add(g[1], h[1]));
    const Tensor n = tanh(add(g[2], mul(r, h[2])));
    return {add(n, mul(z, sub(state.h, n))), {}};
  }
  const Tensors g = chunk(add(projected, q), 4, -1);
  const Tensor c =
      add(mul(sigmoid(g[1]), state.c), mul(sigmoid(g[0]), tanh(g[2])));
  const Tensor h = mul(sigmoid(g[3]), tanh(c));
  return {w.w_hr.defined() ? projected_by(h, w.w_hr, {}) : h, c};
}

RnnState run_layer(RnnMode mode, const Tensor& y, int64_t offset, bool reverse,
                   const Tensor& x, const RnnState& state,
                   const CellWeights& w) {
  static const Kernel& layer = kernel("rnn_layer");
  const auto dense = [](const Tensor& t) {
    return t.defined() ? contiguous(t) : t;
  };
  const Tensor input = dense(x), h0 = dense(state.h), c0 = dense(state.c);
  const Tensor w_ih = dense(w.w_ih), w_hh = dense(w.w_hh);
  const Tensor b_ih = dense(w.b_ih), b_hh = dense(w.b_hh);
  const Tensor w_hr = dense(w.w_hr);
  RnnState out;
  out.h = allocate(h0.sizes(), x.dtype(), x.device());
  if (c0.defined()) out.c = allocate(c0.sizes(), x.dtype(), x.device());
  enqueue(
      layer,
      {write(y), write(out.h), write(out.c), read(input), read(h0), read(c0),
       read(w_ih), read(w_hh), read(b_ih), read(b_hh), read(w_hr)},
      RnnAttributes{mode, reverse, y.size(-1), offset, false, false,
                    allows_bf16(Bf16::kRnn)});
  return out;
}

namespace {

// A step over one batch: the CPU's fused kernel unless a gradient is wanted.
RnnState cell(RnnMode mode, const Tensor& input, const RnnState& state,
              const CellWeights& w) {
  HOTARU_CHECK_AS(IndexError, input.dim() == 2 && state.h.dim() == 2,
                  "rnn cell: input and hidden state must be 2-dimensional, "
                  "got sizes ",
                  shape_text(input.sizes()), " and ",
                  shape_text(state.h.sizes()));
  check_rnn(mode, input.sizes(), input.dtype(), state, w);
  if (!input.device().is_cpu() || autocast::active() ||
      autograd::needs_grad(input, state.h, state.c, w.w_ih, w.w_hh, w.b_ih,
                           w.b_hh))
    return rnn_step(mode, projected_by(input, w.w_ih, w.b_ih), state, w);
  // A sequence of one step ends where it is put out: y is the next h.
  const Tensor y = allocate(state.h.sizes(), input.dtype(), input.device());
  return {y, run_layer(mode, y, 0, false, input, state, w).c};
}

template <RnnMode Mode>
Tensor cell_of(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
               const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  return cell(Mode, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).h;
}

}  // namespace

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, const Tensors& hx,
                                     const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih, const Tensor& b_hh) {
  HOTARU_CHECK(hx.size() == 2, "lstm_cell expects two hidden states");
  const RnnState next =
      cell(RnnMode::kLstm, input, {hx[0], hx[1]}, {w_ih, w_hh, b_ih, b_hh, {}});
  return {next.h, next.c};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,
                const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  return cell_of<RnnMode::kGru>(input, hx, w_ih, w_hh, b_ih, b_hh);
}

HOTARU_OP(
    "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, "
    "Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
    lstm_cell);
HOTARU_OP(
    "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
    "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
    gru_cell);
HOTARU_OP(
    "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
    "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
    cell_of<RnnMode::kTanh>);
HOTARU_OP(
    "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
    "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
    cell_of<RnnMode::kRelu>);

}  // namespace hotaru
