#include "hotaru/ops/rnn/lstm_train.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;
using autograd::saved_output;

/// Operands of "lstm_train": write y [T, B, H], write gates [T, B, 4 H], write
/// c [T, B, H], read x, h0, c0, w_ih, w_hh, b_ih, b_hh (biases may be
/// undefined). Of "lstm_train_grad": write dgates, write dh0, write dc0, read
/// gy, read gc (either may be undefined), read gates, c, c0, w_hh. All of x's
/// dtype, float32 or bfloat16, but gates, c and c0 and the gradients of both
/// states, which are float32.

Tensor dense(const Tensor& t) {
  return t.defined() ? contiguous(t) : t;
}

Tensor like(const Tensor& t) {
  return allocate(t.sizes(), t.dtype(), t.device());
}

enum Saved : size_t { kX, kWih, kWhh, kH0, kC0, kGates, kY, kC, kBih, kBhh };

/// States that each step started from, out of what each left behind.
Tensor before(const Tensor& states, const Tensor& first, bool reverse) {
  const int64_t others = states.size(0) - 1;
  const Tensor start = unsqueeze(first, 0);
  return reverse ? cat({narrow(states, 0, 1, others), start}, 0)
                 : cat({start, narrow(states, 0, 0, others)}, 0);
}

/// Gradients of the gates [T, B, 4 H] and of the initial state.
struct Flow {
  Tensor gates, h0, c0;
};

/// All operands, and so the sums between the steps, in one kernel.
Flow fused_flow(const Backward& node, const Tensors& grads, bool reverse) {
  static const Kernel& kernel_ = kernel("lstm_train_grad");
  const Tensor gates = node.saved(kGates), c0 = node.saved(kC0);
  const Tensor w_hh = node.saved(kWhh), c = node.saved(kC);
  const Flow out{allocate(gates.sizes(), w_hh.dtype(), gates.device()),
                 like(c0), like(c0)};
  const Tensor gy = dense(grads[0]), gc = dense(grads[1]);
  enqueue(kernel_,
          {write(out.gates), write(out.h0), write(out.c0), read(gy), read(gc),
           read(gates), read(c), read(c0), read(w_hh)},
          RnnAttributes{RnnMode::kLstm, reverse, 0, 0});
  return out;
}

/// The same step by step out of differentiable operators. The states are the
/// layer's outputs, whose history is the layer, so that all gates are computed
/// again at once; in float32, as everything here.
Flow recorded_flow(const Backward& node, const Tensors& grads, bool reverse) {
  const auto wide = [](const Tensor& t) {
    return t.defined() ? to(t, DType::kFloat32) : t;
  };
  const auto saved = [&](size_t i) { return wide(node.saved(i)); };
  const Tensor y = saved(kY), c = saved(kC), w_hh = saved(kWhh);
  const Tensor old = before(c, saved(kC0), reverse);
  const Tensor sums =
      add(linear(saved(kX), saved(kWih), saved(kBih)),
          linear(before(y, saved(kH0), reverse), w_hh, saved(kBhh)));
  const Tensors g = chunk(sums, 4, -1);
  const Tensor i = sigmoid(g[0]), f = sigmoid(g[1]), fresh = tanh(g[2]);
  const Tensor o = sigmoid(g[3]), t = tanh(c);
  const auto rest = [](const Tensor& s) { return rsub(s, Scalar(1)); };
  const auto rest_of_square = [&](const Tensor& s) { return rest(mul(s, s)); };
  // Factors of the gradients of a step's c and h for the gates, and of that of
  // h for c.
  const Tensor by_c =
      cat({mul(mul(fresh, i), rest(i)), mul(mul(old, f), rest(f)),
           mul(i, rest_of_square(fresh))},
          -1);
  const Tensor by_h = mul(mul(t, o), rest(o));
  const Tensor to_c = mul(o, rest_of_square(t));
  const Tensor gy = wide(grads[0]), gc = wide(grads[1]);
  const int64_t steps = y.size(0);
  Tensors gates;
  gates.resize(size_t(steps));
  Tensor dh = zeros_like(select(y, 0, 0)), dc = dh;
  for (int64_t s = steps; s-- > 0;) {
    const int64_t time = reverse ? steps - 1 - s : s;
    const auto at = [&](const Tensor& all) { return select(all, 0, time); };
    if (gy.defined()) dh = add(dh, at(gy));
    if (gc.defined()) dc = add(dc, at(gc));
    dc = add(dc, mul(dh, at(to_c)));
    const Tensor now =
        cat({mul(cat({dc, dc, dc}, -1), at(by_c)), mul(dh, at(by_h))}, -1);
    gates[size_t(time)] = now;
    dh = mm(now, w_hh);
    dc = mul(dc, at(f));
  }
  return {to(stack(gates, 0), node.saved(kWhh).dtype()), dh, dc};
}

Tensors gradient(Backward& node, const Tensors& grads, bool reverse) {
  const Tensor x = node.saved(kX), y = node.saved(kY), h0 = node.saved(kH0);
  const Flow flow = autograd::grad_enabled()
                        ? recorded_flow(node, grads, reverse)
                        : fused_flow(node, grads, reverse);
  const int64_t rows = y.size(0) * y.size(1);
  const Tensor d = view(flow.gates, Dims{rows, flow.gates.size(2)});
  Tensors out(7);
  if (node.needs(0)) out[0] = view(mm(d, node.saved(kWih)), x.sizes());
  if (node.needs(1)) out[1] = to(flow.h0, h0.dtype());
  if (node.needs(2)) out[2] = flow.c0;
  if (node.needs(3)) out[3] = mm(t(d), view(x, Dims{rows, x.size(2)}));
  if (node.needs(4))
    out[4] = mm(t(d), view(before(y, h0, reverse), Dims{rows, y.size(2)}));
  if (node.needs(5) || node.needs(6)) out[5] = out[6] = sum(d, Dims{0});
  return out;
}

/// As the layer takes it, row-major; casts and copies keep their history.
Tensor taken(const Tensor& t) {
  return t.defined() ? contiguous(autocast::lowered(t)) : t;
}

/// The dtype that it takes it in.
DType taken_dtype(const Tensor& t) {
  const autocast::OfDevice cast = autocast::of(DeviceType::kCPU);
  return cast.enabled && t.dtype() != DType::kFloat64 ? cast.dtype : t.dtype();
}

}  // namespace

bool lstm_train_fits(RnnMode mode, const Tensor& x, const RnnState& state,
                     const CellWeights& w) {
  if (mode != RnnMode::kLstm || !x.device().is_cpu() || w.w_hr.defined() ||
      x.numel() == 0)
    return false;
  const DType dtype = taken_dtype(x);
  if (dtype != DType::kFloat32 && dtype != DType::kBFloat16) return false;
  for (const Tensor* t :
       {&state.h, &state.c, &w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh})
    if (t->defined() && taken_dtype(*t) != dtype) return false;
  return true;
}

LstmSequence lstm_train(bool reverse, const Tensor& x, const RnnState& state,
                        const CellWeights& w) {
  static const Kernel& kernel_ = kernel("lstm_train");
  const int64_t steps = x.size(0), batch = x.size(1);
  const int64_t hidden = w.w_hh.size(1);
  const Tensor input = taken(x), h0 = taken(state.h);
  const Tensor w_ih = taken(w.w_ih), w_hh = taken(w.w_hh);
  const Tensor b_ih = taken(w.b_ih), b_hh = taken(w.b_hh);
  const Tensor c0 = to(dense(state.c), DType::kFloat32);
  const auto make = [&](int64_t width, DType dtype) {
    return allocate(Dims{steps, batch, width}, dtype, x.device());
  };
  const Tensor y = make(hidden, input.dtype());
  const Tensor gates = make(4 * hidden, DType::kFloat32);
  const Tensor c = make(hidden, DType::kFloat32);
  enqueue(kernel_,
          {write(y), write(gates), write(c), read(input), read(h0), read(c0),
           read(w_ih), read(w_hh), read(b_ih), read(b_hh)},
          RnnAttributes{RnnMode::kLstm, reverse, 0, 0});
  if (autograd::needs_grad(input, h0, c0, w_ih, w_hh, b_ih, b_hh))
    autograd::record("LstmBackward0", Tensors{y, c},
                     {input, h0, c0, w_ih, w_hh, b_ih, b_hh},
                     {input, w_ih, w_hh, h0, c0, gates, saved_output(y),
                      saved_output(c), b_ih, b_hh},
                     [reverse](Backward& node, const Tensors& grads) {
                       return gradient(node, grads, reverse);
                     });
  const int64_t last = reverse ? 0 : steps - 1;
  return {y, {select(y, 0, last), to(select(c, 0, last), y.dtype())}};
}

}  // namespace hotaru
