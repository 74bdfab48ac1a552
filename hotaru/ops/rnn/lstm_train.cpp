#include "hotaru/ops/rnn/lstm_train.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

using autograd::Backward;
using autograd::saved_output;

/// Operands of "lstm_train": write y [T, B, H], write gates [T, B, 4 H], write
/// c [T, B, H], read x, h0, c0, w_ih, w_hh, b_ih, b_hh (biases may be
/// undefined). Of "lstm_train_grad": write dgates, write dh0, write dc0, read
/// gy, read gc (either may be undefined), read gates, c, c0, w_hh.

Tensor dense(const Tensor& t) {
  return t.defined() ? contiguous(t) : t;
}

Tensor like(const Tensor& t) {
  return allocate(t.sizes(), t.dtype(), t.device());
}

enum Saved : size_t { kX, kWih, kWhh, kH0, kC0, kGates, kY, kC };

Tensors gradient(Backward& node, const Tensors& grads, bool reverse) {
  static const Kernel& kernel_ = kernel("lstm_train_grad");
  HOTARU_CHECK(!autograd::grad_enabled(),
               "derivative for lstm's backward pass is not implemented for "
               "float32; use float64 for second derivatives");
  const Tensor x = node.saved(kX), w_ih = node.saved(kWih);
  const Tensor w_hh = node.saved(kWhh), h0 = node.saved(kH0);
  const Tensor c0 = node.saved(kC0), gates = node.saved(kGates);
  const Tensor y = node.saved(kY), c = node.saved(kC);
  const Tensor dgates = like(gates), dh0 = like(h0), dc0 = like(c0);
  const Tensor gy = dense(grads[0]), gc = dense(grads[1]);
  enqueue(kernel_,
          {write(dgates), write(dh0), write(dc0), read(gy), read(gc),
           read(gates), read(c), read(c0), read(w_hh)},
          RnnAttributes{RnnMode::kLstm, reverse, 0, 0});
  const int64_t steps = y.size(0), rows = steps * y.size(1);
  const Tensor d = view(dgates, Dims{rows, dgates.size(2)});
  Tensors out(7);
  if (node.needs(0)) out[0] = view(mm(d, w_ih), x.sizes());
  if (node.needs(1)) out[1] = dh0;
  if (node.needs(2)) out[2] = dc0;
  if (node.needs(3)) out[3] = mm(t(d), view(x, Dims{rows, x.size(2)}));
  if (node.needs(4)) {
    // The state that each step started from.
    const Tensor first = unsqueeze(h0, 0);
    const Tensor before = reverse ? cat({narrow(y, 0, 1, steps - 1), first}, 0)
                                  : cat({first, narrow(y, 0, 0, steps - 1)}, 0);
    out[4] = mm(t(d), view(before, Dims{rows, y.size(2)}));
  }
  if (node.needs(5) || node.needs(6)) out[5] = out[6] = sum(d, Dims{0});
  return out;
}

}  // namespace

bool lstm_train_fits(RnnMode mode, const Tensor& x,
                     const CellWeights& weights) {
  return mode == RnnMode::kLstm && x.dtype() == DType::kFloat32 &&
         x.device().is_cpu() && !weights.w_hr.defined() && x.numel() > 0;
}

LstmSequence lstm_train(bool reverse, const Tensor& x, const RnnState& state,
                        const CellWeights& w) {
  static const Kernel& kernel_ = kernel("lstm_train");
  const int64_t steps = x.size(0), batch = x.size(1);
  const int64_t hidden = w.w_hh.size(1);
  const auto make = [&](int64_t width) {
    return allocate(Dims{steps, batch, width}, x.dtype(), x.device());
  };
  const Tensor y = make(hidden), gates = make(4 * hidden), c = make(hidden);
  // Row-major copies keep their history, so that gradients find their way.
  const Tensor input = dense(x), h0 = dense(state.h), c0 = dense(state.c);
  const Tensor w_ih = dense(w.w_ih), w_hh = dense(w.w_hh);
  const Tensor b_ih = dense(w.b_ih), b_hh = dense(w.b_hh);
  enqueue(kernel_,
          {write(y), write(gates), write(c), read(input), read(h0), read(c0),
           read(w_ih), read(w_hh), read(b_ih), read(b_hh)},
          RnnAttributes{RnnMode::kLstm, reverse, 0, 0});
  if (autograd::needs_grad(input, h0, c0, w_ih, w_hh, b_ih, b_hh))
    autograd::record(
        "LstmBackward0", Tensors{y, c}, {input, h0, c0, w_ih, w_hh, b_ih, b_hh},
        {input, w_ih, w_hh, h0, c0, gates, saved_output(y), saved_output(c)},
        [reverse](Backward& node, const Tensors& grads) {
          return gradient(node, grads, reverse);
        });
  const int64_t last = reverse ? 0 : steps - 1;
  return {y, {select(y, 0, last), select(c, 0, last)}};
}

}  // namespace hotaru
