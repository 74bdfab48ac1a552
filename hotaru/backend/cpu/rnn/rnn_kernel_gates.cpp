#include "hotaru/backend/cpu/rnn/rnn_kernel_gates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/rnn/rnn_kernel_gates.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"
#include "hotaru/backend/cpu/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Reads and writes whole vectors.
template <class T>
struct WholeLanes {
  hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;

  HWY_INLINE V load(const T* p) const { return hn::LoadU(d, p); }
  HWY_INLINE void store(V v, T* p) const { hn::StoreU(v, d, p); }
};

/// Reads and writes the first lanes only.
template <class T>
struct FirstLanes {
  hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  hn::Mask<hn::ScalableTag<T>> mask;

  HWY_INLINE V load(const T* p) const { return load_first(mask, d, p); }
  HWY_INLINE void store(V v, T* p) const { hn::BlendedStore(v, mask, d, p); }
};

/// f(first unit, lanes) for all hidden units.
template <class T, class F>
HWY_INLINE void for_units(int64_t size, const F& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= size; j += lanes) f(j, WholeLanes<T>{});
  if (j < size) f(j, FirstLanes<T>{d, hn::FirstN(d, size_t(size - j))});
}

template <class T, class L>
HWY_INLINE auto with_bias(const L& lanes, const T* values, const T* bias,
                          int64_t at) {
  const auto v = lanes.load(values + at);
  return bias ? hn::Add(v, lanes.load(bias + at)) : v;
}

/// The gate's argument where both products are simply added.
template <class T, class L>
HWY_INLINE auto gate(const L& lanes, const RnnGates<T>& g, int64_t at) {
  return hn::Add(with_bias(lanes, g.from_input, g.input_bias, at),
                 with_bias(lanes, g.from_hidden, g.hidden_bias, at));
}

template <class T>
void lstm(const RnnGates<T>& g, const T* c, T* c_out, T* h_out) {
  const int64_t size = g.hidden_size;
  for_units<T>(size, [&](int64_t j, const auto& lanes) HOTARU_SIMD_LAMBDA {
    const auto d = lanes.d;
    const auto i = simd_sigmoid(d, gate(lanes, g, j));
    const auto f = simd_sigmoid(d, gate(lanes, g, j + size));
    const auto n = simd_tanh(d, gate(lanes, g, j + 2 * size));
    const auto o = simd_sigmoid(d, gate(lanes, g, j + 3 * size));
    const auto next = hn::MulAdd(f, lanes.load(c + j), hn::Mul(i, n));
    lanes.store(next, c_out + j);
    lanes.store(hn::Mul(o, simd_tanh(d, next)), h_out + j);
  });
}

template <class T>
void gru(const RnnGates<T>& g, const T* h, T* h_out) {
  const int64_t size = g.hidden_size;
  for_units<T>(size, [&](int64_t j, const auto& lanes) HOTARU_SIMD_LAMBDA {
    const auto d = lanes.d;
    const auto r = simd_sigmoid(d, gate(lanes, g, j));
    const auto z = simd_sigmoid(d, gate(lanes, g, j + size));
    const auto n = simd_tanh(
        d, hn::MulAdd(
               r, with_bias(lanes, g.from_hidden, g.hidden_bias, j + 2 * size),
               with_bias(lanes, g.from_input, g.input_bias, j + 2 * size)));
    lanes.store(hn::MulAdd(hn::Sub(lanes.load(h + j), n), z, n), h_out + j);
  });
}

template <class T>
void tanh_gate(const RnnGates<T>& g, T* h_out) {
  for_units<T>(g.hidden_size,
               [&](int64_t j, const auto& lanes) HOTARU_SIMD_LAMBDA {
                 lanes.store(simd_tanh(lanes.d, gate(lanes, g, j)), h_out + j);
               });
}

template <class T>
void relu_gate(const RnnGates<T>& g, T* h_out) {
  for_units<T>(g.hidden_size, [&](int64_t j,
                                  const auto& lanes) HOTARU_SIMD_LAMBDA {
    const auto v = gate(lanes, g, j);
    // NaN stays NaN, as in PyTorch.
    lanes.store(hn::IfThenZeroElse(hn::Lt(v, hn::Zero(lanes.d)), v), h_out + j);
  });
}

template <class T>
RnnKernels<T> rnn_table() {
  return {&lstm<T>, &gru<T>, &tanh_gate<T>, &relu_gate<T>};
}
RnnKernels<float> rnn_kernels_float() {
  return rnn_table<float>();
}
RnnKernels<double> rnn_kernels_double() {
  return rnn_table<double>();
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(rnn_kernels_float);
HWY_EXPORT(rnn_kernels_double);

template <>
const RnnKernels<float>& rnn_kernels() {
  static const RnnKernels<float> table =
      HWY_DYNAMIC_DISPATCH(rnn_kernels_float)();
  return table;
}

template <>
const RnnKernels<double>& rnn_kernels() {
  static const RnnKernels<double> table =
      HWY_DYNAMIC_DISPATCH(rnn_kernels_double)();
  return table;
}

}  // namespace hotaru
#endif
