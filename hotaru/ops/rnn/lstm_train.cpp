#include "hotaru/ops/rnn/lstm_train.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/matmul/matmul.h"
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

enum Saved : size_t { kX, kWih, kWhh, kH0, kC0, kGates, kY, kC };

Tensors gradient(Backward& node, const Tensors& grads, bool reverse) {
  static const Kernel& kernel_ = kernel("lstm_train_grad");
  HOTARU_CHECK(!autograd::grad_enabled(),
               "derivative for lstm's backward pass is not implemented for ",
               dtype_name(node.saved(kX).dtype()),
               "; use float64 for second derivatives");
  const Tensor x = node.saved(kX), w_ih = node.saved(kWih);
  const Tensor w_hh = node.saved(kWhh), h0 = node.saved(kH0);
  const Tensor c0 = node.saved(kC0), gates = node.saved(kGates);
  const Tensor y = node.saved(kY), c = node.saved(kC);
  const Tensor dgates = allocate(gates.sizes(), x.dtype(), x.device());
  const Tensor dh0 = like(c0), dc0 = like(c0);
  const Tensor gy = dense(grads[0]), gc = dense(grads[1]);
  enqueue(kernel_,
          {write(dgates), write(dh0), write(dc0), read(gy), read(gc),
           read(gates), read(c), read(c0), read(w_hh)},
          RnnAttributes{RnnMode::kLstm, reverse, 0, 0});
  const int64_t steps = y.size(0), rows = steps * y.size(1);
  const Tensor d = view(dgates, Dims{rows, dgates.size(2)});
  Tensors out(7);
  if (node.needs(0)) out[0] = view(mm(d, w_ih), x.sizes());
  if (node.needs(1)) out[1] = to(dh0, h0.dtype());
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
    autograd::record(
        "LstmBackward0", Tensors{y, c}, {input, h0, c0, w_ih, w_hh, b_ih, b_hh},
        {input, w_ih, w_hh, h0, c0, gates, saved_output(y), saved_output(c)},
        [reverse](Backward& node, const Tensors& grads) {
          return gradient(node, grads, reverse);
        });
  const int64_t last = reverse ? 0 : steps - 1;
  return {y, {select(y, 0, last), to(select(c, 0, last), y.dtype())}};
}

}  // namespace hotaru
