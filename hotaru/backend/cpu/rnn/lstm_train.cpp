// An LSTM layer that keeps what its gradient needs, and that gradient: the
// steps in one kernel each, all other products over the whole sequence.
#include <cmath>
#include <memory>

#include "hotaru/backend/common/pointwise/vector_math.h"
#include "hotaru/backend/common/rnn/rnn.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/runtime/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/rnn/lstm_train.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

// One row of n units. g: pre-activations i f n o, which become activations.
void lstm_row(int64_t n, float* g, const float* c0, float* c, float* h) {
  float *gi = g, *gf = g + n, *gn = g + 2 * n, *go = g + 3 * n;
  HOTARU_INDEPENDENT
  for (int64_t k = 0; k < n; ++k) {
    const float i = vmath::sigmoid(gi[k]), f = vmath::sigmoid(gf[k]);
    const float fresh = vmath::tanh(gn[k]), o = vmath::sigmoid(go[k]);
    const float next = f * c0[k] + i * fresh;
    gi[k] = i;
    gf[k] = f;
    gn[k] = fresh;
    go[k] = o;
    c[k] = next;
    h[k] = o * vmath::tanh(next);
  }
}

// dc: on entry the gradient of c, on exit that of c0.
void lstm_row_grad(int64_t n, const float* g, const float* c0, const float* c,
                   const float* dh, float* dc, float* dg) {
  const float *gi = g, *gf = g + n, *gn = g + 2 * n, *go = g + 3 * n;
  HOTARU_INDEPENDENT
  for (int64_t k = 0; k < n; ++k) {
    const float i = gi[k], f = gf[k], fresh = gn[k], o = go[k];
    const float t = vmath::tanh(c[k]);
    const float d = dc[k] + dh[k] * o * (1.0f - t * t);
    dg[k] = d * fresh * i * (1.0f - i);
    dg[n + k] = d * c0[k] * f * (1.0f - f);
    dg[2 * n + k] = d * i * (1.0f - fresh * fresh);
    dg[3 * n + k] = dh[k] * t * o * (1.0f - o);
    dc[k] = d * f;
  }
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
namespace {

HWY_EXPORT(lstm_row);
HWY_EXPORT(lstm_row_grad);

struct Sizes {
  int64_t steps, batch, hidden, width;
  bool reverse;

  Sizes(const Tensor& states, const RnnAttributes& a)
      : steps(states.size(0)),
        batch(states.size(1)),
        hidden(states.size(2)),
        width(4 * hidden),
        reverse(a.reverse) {}
  /// The time of the s-th step, and what the step before it left at `all`.
  int64_t time(int64_t s) const { return reverse ? steps - 1 - s : s; }
  const float* before(int64_t s, const float* all, const float* first) const {
    return s == 0 ? first : all + time(s - 1) * batch * hidden;
  }
};

const float* data(const KernelCall& call, size_t i) {
  const Tensor& t = call.tensor(i);
  return t.defined() ? t.data<float>() : nullptr;
}

void lstm_train(const KernelCall& call) {
  const Tensor& x = call.tensor(3);
  const Sizes z(call.tensor(0), call.attributes<RnnAttributes>());
  const int64_t inputs = x.size(2), rows = z.batch * z.hidden;
  float *y = call.tensor(0).data<float>(), *c = call.tensor(2).data<float>();
  float* gates = call.tensor(1).data<float>();
  const float *h0 = data(call, 4), *c0 = data(call, 5);
  const auto project = [&](int64_t m, int64_t k, const float* a, const float* w,
                           float beta, float* out, const float* bias) {
    Epilogue<float> epilogue;
    epilogue.bias = bias;
    gemm<float>(m, z.width, k, 1.0f, {a, k, 1}, {w, 1, k}, beta, out, z.width,
                epilogue);
  };
  project(z.steps * z.batch, inputs, x.data<float>(), data(call, 6), 0.0f,
          gates, data(call, 8));
  const auto row = HWY_DYNAMIC_DISPATCH(lstm_row);
  for (int64_t s = 0; s < z.steps; ++s) {
    const int64_t t = z.time(s);
    float* g = gates + t * z.batch * z.width;
    project(z.batch, z.hidden, z.before(s, y, h0), data(call, 7), 1.0f, g,
            data(call, 9));
    const float* old = z.before(s, c, c0);
    for (int64_t b = 0; b < z.batch; ++b)
      row(z.hidden, g + b * z.width, old + b * z.hidden,
          c + t * rows + b * z.hidden, y + t * rows + b * z.hidden);
  }
}

void lstm_train_grad(const KernelCall& call) {
  const Sizes z(call.tensor(6), call.attributes<RnnAttributes>());
  const int64_t rows = z.batch * z.hidden;
  float* dg = call.tensor(0).data<float>();
  float *dh0 = call.tensor(1).data<float>(), *dc = call.tensor(2).data<float>();
  const float *gy = data(call, 3), *gc = data(call, 4);
  const float *gates = data(call, 5), *c = data(call, 6), *c0 = data(call, 7);
  const float* w_hh = data(call, 8);
  // dh0 carries the gradient of the state from step to step, and so does dc.
  std::fill_n(dh0, rows, 0.0f);
  std::fill_n(dc, rows, 0.0f);
  const auto row = HWY_DYNAMIC_DISPATCH(lstm_row_grad);
  for (int64_t s = z.steps; s-- > 0;) {
    const int64_t t = z.time(s);
    if (gy)
      for (int64_t i = 0; i < rows; ++i) dh0[i] += gy[t * rows + i];
    if (gc)
      for (int64_t i = 0; i < rows; ++i) dc[i] += gc[t * rows + i];
    const float* old = z.before(s, c, c0);
    float* out = dg + t * z.batch * z.width;
    for (int64_t b = 0; b < z.batch; ++b)
      row(z.hidden, gates + (t * z.batch + b) * z.width, old + b * z.hidden,
          c + t * rows + b * z.hidden, dh0 + b * z.hidden, dc + b * z.hidden,
          out + b * z.width);
    gemm<float>(z.batch, z.hidden, z.width, 1.0f, {out, z.width, 1},
                {w_hh, z.hidden, 1}, 0.0f, dh0, z.hidden);
  }
}

HOTARU_KERNEL(kCPU, "lstm_train", lstm_train);
HOTARU_KERNEL(kCPU, "lstm_train_grad", lstm_train_grad);

}  // namespace
}  // namespace hotaru::cpu
#endif
