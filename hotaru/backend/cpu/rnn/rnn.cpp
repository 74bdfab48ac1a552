// The kernel of recurrent layers: SIMD for float and double, by which those of
// 16 bits go, too; what that lacks (projections, one bias alone) is computed
// step by step here.
#include "hotaru/backend/common/rnn/rnn.h"

#include <cmath>
#include <memory>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/matmul/pair_kernels.h"
#include "hotaru/backend/cpu/rnn/rnn_kernel.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

template <class A>
A logistic(A x) {
  return A(1) / (A(1) + std::exp(-x));
}

// g: the projected inputs, on entry to a step plus the recurrent part; q: the
// recurrent part kept apart, for GRU. One row of C units each.
template <class T>
struct Step {
  using A = OpMath<T>;

  static void lstm(int64_t n, const T* g, const T* c0, T* c, T* h) {
    for (int64_t i = 0; i < n; ++i) {
      const A in = logistic(A(g[i])), forget = logistic(A(g[n + i]));
      const A cell = std::tanh(A(g[2 * n + i]));
      const A out = logistic(A(g[3 * n + i]));
      const A next = forget * A(c0[i]) + in * cell;
      c[i] = T(next);
      h[i] = T(out * std::tanh(next));
    }
  }
  static void gru(int64_t n, const T* g, const T* q, const T* h0, T* h) {
    for (int64_t i = 0; i < n; ++i) {
      const A r = logistic(A(g[i]) + A(q[i]));
      const A z = logistic(A(g[n + i]) + A(q[n + i]));
      const A fresh = std::tanh(A(g[2 * n + i]) + r * A(q[2 * n + i]));
      h[i] = T(fresh + z * (A(h0[i]) - fresh));
    }
  }
  static void simple(RnnMode mode, int64_t n, const T* g, T* h) {
    for (int64_t i = 0; i < n; ++i) {
      const A x = A(g[i]);
      h[i] = T(mode == RnnMode::kTanh ? std::tanh(x) : x < A(0) ? A(0) : x);
    }
  }
};

template <class T>
struct Layer {
  const KernelCall& call;
  const RnnAttributes& a;
  int64_t steps, batch, inputs, hidden, cells, width;  // width: G C

  explicit Layer(const KernelCall& call)
      : call(call), a(call.attributes<RnnAttributes>()) {
    const Tensor &x = call.tensor(3), &h0 = call.tensor(4);
    batch = h0.size(0);
    hidden = h0.size(1);
    inputs = x.size(-1);
    steps = x.dim() == 3 ? x.size(0) : 1;
    width = a.packed_input || a.packed_hidden ? rnn_gates(a.mode) * hidden
                                              : call.tensor(6).size(0);
    cells = width / rnn_gates(a.mode);
  }

  const T* data(size_t i) const {
    const Tensor& t = call.tensor(i);
    return t.defined() ? t.data<T>() : nullptr;
  }
  /// A weight of a layer of F, which T is or T's numbers become.
  template <class F>
  RnnMatrix<F> weight(size_t i, bool packed) const {
    const Tensor& t = call.tensor(i);
    RnnMatrix<F> w;
    w.packed = packed;
    if (t.dtype() == DType::kBFloat16)
      w.rounded = t.data<BFloat16>();
    else if (t.dtype() == DType::kFloat16)
      w.half = t.data<Half>();
    else
      w.data = t.data<F>();
    return w;
  }
  T* output(size_t i) const { return call.tensor(i).data<T>(); }

  // [rows, width] = a (rows x k) times w (width x k) transposed.
  static void project(int64_t rows, int64_t width, int64_t k, const T* a,
                      int64_t a_row, const T* w, T beta, T* out, int64_t ldc,
                      const T* bias) {
    Epilogue<T> epilogue;
    epilogue.bias = bias;
    gemm<T>(rows, width, k, T(1), {a, a_row, 1}, {w, 1, k}, beta, out, ldc,
            epilogue);
  }

  void run() const {
    const bool lstm = a.mode == RnnMode::kLstm, gru = a.mode == RnnMode::kGru;
    const T *w_hh = data(7), *b_hh = data(9), *w_hr = data(10);
    std::unique_ptr<T[]> gates(new T[size_t(steps * batch * width)]);
    std::unique_ptr<T[]> apart(new T[size_t(gru ? batch * width : 0)]);
    std::unique_ptr<T[]> raw(new T[size_t(w_hr ? batch * cells : 0)]);
    project(steps * batch, width, inputs, data(3), inputs, data(6), T(0),
            gates.get(), width, data(8));
    const T *h = data(4), *c = data(5);
    int64_t h_row = hidden;
    T* cn = lstm ? output(2) : nullptr;
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t t = a.reverse ? steps - 1 - s : s;
      T* g = gates.get() + t * batch * width;
      T* y = output(0) + t * batch * a.row_stride + a.offset;
      // GRU's candidate needs the recurrent part by itself.
      T* q = gru ? apart.get() : g;
      project(batch, width, hidden, h, h_row, w_hh, T(gru ? 0 : 1), q, width,
              b_hh);
      for (int64_t b = 0; b < batch; ++b) {
        T* to = y + b * a.row_stride;
        const T* row = g + b * width;
        if (lstm)
          Step<T>::lstm(cells, row, c + b * cells, cn + b * cells,
                        w_hr ? raw.get() + b * cells : to);
        else if (gru)
          Step<T>::gru(cells, row, q + b * width, h + b * h_row, to);
        else
          Step<T>::simple(a.mode, cells, row, to);
      }
      if (w_hr)
        project(batch, hidden, cells, raw.get(), cells, w_hr, T(0), y,
                a.row_stride, nullptr);
      h = y;
      h_row = a.row_stride;
      c = cn;
    }
    T* hn = output(1);
    for (int64_t b = 0; b < batch; ++b)
      std::copy_n(h + b * h_row, hidden, hn + b * hidden);
  }
};

RnnKind kind(RnnMode mode) {
  switch (mode) {
    case RnnMode::kLstm:
      return RnnKind::kLstm;
    case RnnMode::kGru:
      return RnnKind::kGru;
    case RnnMode::kTanh:
      return RnnKind::kTanh;
    case RnnMode::kRelu:
      return RnnKind::kRelu;
  }
  return RnnKind::kRelu;
}

template <class T>
RnnSizes sizes_of(const Layer<T>& l) {
  return {kind(l.a.mode), l.steps, l.batch, l.inputs, l.hidden, l.a.reverse};
}

/// A weight [G C, k] of floats as bfloat16, as it lies.
Tensor rounded(const float* weight, int64_t n) {
  const Tensor to = allocate(Dims{n}, DType::kBFloat16, Device{});
  narrowed(weight, to.data<BFloat16>(), n);
  return to;
}

// Rows that a layer multiplies a weight by from which rounding it pays, where
// that may be done.
constexpr int64_t kRowsWorthRounding = 16;

template <class T>
void fast_layer(const Layer<T>& l) {
  const bool lstm = l.a.mode == RnnMode::kLstm;
  RnnOperands<T> operands{l.data(3),
                          l.data(4),
                          l.data(5),
                          l.output(1),
                          lstm ? l.output(2) : nullptr,
                          l.output(0) + l.a.offset,
                          l.a.row_stride};
  RnnWeights<T> weights{l.template weight<T>(6, l.a.packed_input),
                        l.template weight<T>(7, l.a.packed_hidden), l.data(8),
                        l.data(9)};
  Tensor input, hidden;
  if constexpr (std::is_same_v<T, float>) {
    if (l.a.bf16 && !l.a.packed_input && !l.a.packed_hidden &&
        has_pair_products() && l.steps * l.batch >= kRowsWorthRounding) {
      input = rounded(weights.input.data, l.width * l.inputs);
      hidden = rounded(weights.hidden.data, l.width * l.hidden);
      weights.input.rounded = input.data<BFloat16>();
      weights.hidden.rounded = hidden.data<BFloat16>();
    }
  }
  hotaru::rnn_layer<T>(sizes_of(l), weights, operands);
}

/// A weight of Half that is not packed becomes one of floats, in what this
/// returns.
Tensor widen_weight(RnnMatrix<float>& weight, int64_t n) {
  if (!weight.half || weight.packed) return {};
  const Tensor to = widened(weight.half, n);
  weight = {to.data<float>()};
  return to;
}

/// Runs a layer of 16 bits: states and sums are floats, results are rounded
/// once.
template <class T>
void wide_layer(const Layer<T>& l) {
  const bool lstm = l.a.mode == RnnMode::kLstm;
  const int64_t rows = l.steps * l.batch, states = l.batch * l.hidden;
  const Tensor x = widened(l.data(3), rows * l.inputs),
               h = widened(l.data(4), states), c = widened(l.data(5), states),
               input_bias = widened(l.data(8), l.width),
               hidden_bias = widened(l.data(9), l.width),
               y = floats(rows * l.hidden);
  RnnWeights<float> weights{l.template weight<float>(6, l.a.packed_input),
                            l.template weight<float>(7, l.a.packed_hidden),
                            l.data(8) ? input_bias.data<float>() : nullptr,
                            l.data(9) ? hidden_bias.data<float>() : nullptr};
  const Tensor wide[] = {widen_weight(weights.input, l.width * l.inputs),
                         widen_weight(weights.hidden, l.width * l.hidden)};
  float* cells = lstm ? c.data<float>() : nullptr;
  hotaru::rnn_layer<float>(sizes_of(l), weights,
                           {x.data<float>(), h.data<float>(), cells,
                            h.data<float>(), cells, y.data<float>(), l.hidden});
  parallel_for(0, rows, row_grain(l.hidden), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      narrow(y.data<float>() + i * l.hidden,
             l.output(0) + i * l.a.row_stride + l.a.offset, l.hidden);
  });
  narrowed(h.data<float>(), l.output(1), states);
  if (lstm) narrowed(cells, l.output(2), states);
}

constexpr KernelTypes<FloatingTypes> kLayerTypes{3, "rnn"};

void rnn_layer(const KernelCall& call) {
  const bool projected = call.tensor(10).defined();
  const bool both = call.tensor(8).defined() == call.tensor(9).defined();
  kLayerTypes.visit(call, [&]<class T>() {
    const Layer<T> layer(call);
    if (!projected && both && call.tensor(0).numel() > 0 && layer.inputs > 0) {
      if constexpr (std::is_floating_point_v<T>) return fast_layer(layer);
      if constexpr (kIsReduced<T>) return wide_layer(layer);
    }
    layer.run();
  });
}

HOTARU_KERNEL(kCPU, "rnn_layer", rnn_layer, check_types<kLayerTypes>);

}  // namespace
}  // namespace hotaru::cpu
