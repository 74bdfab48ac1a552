// An LSTM layer that keeps what its gradient needs, and that gradient: the
// steps in one kernel each, all other products over the whole sequence.
#include <cmath>
#include <memory>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise/vector_math.h"
#include "hotaru/backend/common/rnn/rnn.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/backend/cpu/wide_product.h"
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
  template <class T>
  const T* before(int64_t s, const T* all, const T* first) const {
    return s == 0 ? first : all + time(s - 1) * batch * hidden;
  }
};

template <class T>
const T* data(const KernelCall& call, size_t i) {
  const Tensor& t = call.tensor(i);
  return t.defined() ? t.data<T>() : nullptr;
}

/// A matrix that each step multiplies: packed once, unless few rows read it as
/// fast as it lies.
template <class T>
class StepMatrix {
 public:
  StepMatrix(const Sizes& z, int64_t k, int64_t n, MatrixRef<T> b)
      : rows_(z.batch), k_(k), n_(n), b_(b) {
    if (z.steps == 1 || z.batch <= GemmKernels<float>::kFewRows) return;
    room_.reset(aligned_new<T>(packed_size(k, n, int64_t{sizeof(T)})));
    packed_ = pack_factor(k, n, b, room_.get());
  }
  /// c [batch, n] = a b + beta c + bias.
  void multiply(const T* a, float beta, float* c,
                const float* bias = nullptr) const {
    const MatrixRef<T> left{a, k_, 1};
    Epilogue<float> epilogue;
    epilogue.bias = bias;
    if (room_)
      cpu::multiply(rows_, 1, left, packed_, beta, c, epilogue);
    else
      cpu::multiply(rows_, n_, k_, 1.0f, left, b_, beta, c, n_, epilogue);
  }

 private:
  int64_t rows_, k_, n_;
  MatrixRef<T> b_;
  std::unique_ptr<T[], AlignedDelete> room_;
  PackedRef<T> packed_{};
};

/// A bias as floats; null without one.
const float* as_floats(const KernelCall& call, size_t i, Tensor& room) {
  const Tensor& t = call.tensor(i);
  if (!t.defined()) return nullptr;
  room =
      t.dtype() == DType::kFloat32 ? t : widened(t.data<BFloat16>(), t.numel());
  return room.data<float>();
}

/// Numbers that a row of floats becomes: itself, or rounded at `to`.
float* row_of(float* to, float*) {
  return to;
}
float* row_of(BFloat16*, float* room) {
  return room;
}
void put_row(const float*, float*, int64_t) {}
void put_row(const float* from, BFloat16* to, int64_t n) {
  narrow(from, to, n);
}

template <class T>
void train(const KernelCall& call) {
  const Tensor& x = call.tensor(3);
  const Sizes z(call.tensor(0), call.attributes<RnnAttributes>());
  const int64_t inputs = x.size(2), rows = z.batch * z.hidden;
  T* y = call.tensor(0).data<T>();
  float* c = call.tensor(2).data<float>();
  float* gates = call.tensor(1).data<float>();
  const T* h0 = data<T>(call, 4);
  const float* c0 = data<float>(call, 5);
  Tensor rooms[2];
  const float* const bias = as_floats(call, 9, rooms[1]);
  Epilogue<float> epilogue;
  epilogue.bias = as_floats(call, 8, rooms[0]);
  multiply(z.steps * z.batch, z.width, inputs, 1.0f,
           MatrixRef<T>{x.data<T>(), inputs, 1},
           MatrixRef<T>{data<T>(call, 6), 1, inputs}, 0.0f, gates, z.width,
           epilogue);
  const StepMatrix<T> hidden(z, z.hidden, z.width,
                             MatrixRef<T>{data<T>(call, 7), 1, z.hidden});
  float* const room = scratch<float>(ScratchUse::kRnn, z.hidden);
  const auto row = HWY_DYNAMIC_DISPATCH(lstm_row);
  for (int64_t s = 0; s < z.steps; ++s) {
    const int64_t t = z.time(s);
    float* g = gates + t * z.batch * z.width;
    hidden.multiply(z.before(s, y, h0), 1.0f, g, bias);
    const float* old = z.before(s, c, c0);
    for (int64_t b = 0; b < z.batch; ++b) {
      T* const to = y + t * rows + b * z.hidden;
      float* const h = row_of(to, room);
      row(z.hidden, g + b * z.width, old + b * z.hidden,
          c + t * rows + b * z.hidden, h);
      put_row(h, to, z.hidden);
    }
  }
}

void add(const float* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}
void add(const BFloat16* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += float(from[i]);
}

template <class T>
void train_grad(const KernelCall& call) {
  const Sizes z(call.tensor(6), call.attributes<RnnAttributes>());
  const int64_t rows = z.batch * z.hidden;
  T* dg = call.tensor(0).data<T>();
  float *dh0 = call.tensor(1).data<float>(), *dc = call.tensor(2).data<float>();
  const T* gy = data<T>(call, 3);
  const float* gc = data<float>(call, 4);
  const float *gates = data<float>(call, 5), *c = data<float>(call, 6);
  const float* c0 = data<float>(call, 7);
  const StepMatrix<T> hidden(z, z.width, z.hidden,
                             MatrixRef<T>{data<T>(call, 8), z.hidden, 1});
  float* const room = scratch<float>(ScratchUse::kRnn, z.width);
  // dh0 carries the gradient of the state from step to step, and so does dc.
  std::fill_n(dh0, rows, 0.0f);
  std::fill_n(dc, rows, 0.0f);
  const auto row = HWY_DYNAMIC_DISPATCH(lstm_row_grad);
  for (int64_t s = z.steps; s-- > 0;) {
    const int64_t t = z.time(s);
    if (gy) add(gy + t * rows, dh0, rows);
    if (gc) add(gc + t * rows, dc, rows);
    const float* old = z.before(s, c, c0);
    T* const out = dg + t * z.batch * z.width;
    for (int64_t b = 0; b < z.batch; ++b) {
      T* const to = out + b * z.width;
      float* const d = row_of(to, room);
      row(z.hidden, gates + (t * z.batch + b) * z.width, old + b * z.hidden,
          c + t * rows + b * z.hidden, dh0 + b * z.hidden, dc + b * z.hidden,
          d);
      put_row(d, to, z.width);
    }
    hidden.multiply(out, 0.0f, dh0);
  }
}

using TrainTypes = TypeList<float, BFloat16>;
constexpr KernelTypes<TrainTypes> kTypes{0, "lstm"};

void lstm_train(const KernelCall& call) {
  kTypes.visit(call, [&]<class T>() { train<T>(call); });
}
void lstm_train_grad(const KernelCall& call) {
  kTypes.visit(call, [&]<class T>() { train_grad<T>(call); });
}

HOTARU_KERNEL(kCPU, "lstm_train", lstm_train);
HOTARU_KERNEL(kCPU, "lstm_train_grad", lstm_train_grad);

}  // namespace
}  // namespace hotaru::cpu
#endif
