// The kernel of recurrent layers: SIMD for float and double; what that lacks
// (16-bit types, projections, one bias alone) is computed step by step here.
#include "hotaru/backend/common/rnn/rnn.h"

#include <cmath>
#include <memory>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/rnn/rnn_kernel.h"
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
  /// A weight packed as bfloat16, or null.
  const BFloat16* rounded(size_t i) const {
    const Tensor& t = call.tensor(i);
    return t.dtype() == DType::kBFloat16 ? t.data<BFloat16>() : nullptr;
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
void fast_layer(const Layer<T>& l) {
  RnnSizes sizes{kind(l.a.mode), l.steps,  l.batch,
                 l.inputs,       l.hidden, l.a.reverse};
  const bool lstm = l.a.mode == RnnMode::kLstm;
  RnnOperands<T> operands{l.data(3),
                          l.data(4),
                          l.data(5),
                          l.output(1),
                          lstm ? l.output(2) : nullptr,
                          l.output(0) + l.a.offset,
                          l.a.row_stride};
  RnnWeights<T> weights{l.data(6),    l.data(7),        l.data(8),
                        l.data(9),    l.a.packed_input, l.a.packed_hidden,
                        l.rounded(6), l.rounded(7)};
  hotaru::rnn_layer<T>(sizes, weights, operands);
}

constexpr KernelTypes<FloatingTypes> kLayerTypes{3, "rnn"};

void rnn_layer(const KernelCall& call) {
  const bool projected = call.tensor(10).defined();
  const bool both = call.tensor(8).defined() == call.tensor(9).defined();
  kLayerTypes.visit(call, [&]<class T>() {
    const Layer<T> layer(call);
    if constexpr (std::is_floating_point_v<T>)
      if (!projected && both && call.tensor(0).numel() > 0 && layer.inputs > 0)
        return fast_layer(layer);
    layer.run();
  });
}

HOTARU_KERNEL(kCPU, "rnn_layer", rnn_layer, check_types<kLayerTypes>);

}  // namespace
}  // namespace hotaru::cpu
