// The kernels of convolution: SIMD ones for float and double; for the other
// dtypes a product of matrices over unrolled windows of the input ("im2col": K.
// Chellapilla et al., High performance convolutional neural networks for
// document processing, 2006), a tile of output positions at a time so that the
// windows stay in cache.
#include "hotaru/backend/common/conv/conv.h"

#include <cmath>
#include <memory>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/conv/amx/plane_conv.h"
#include "hotaru/backend/cpu/conv/amx/plane_weights.h"
#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/backend/cpu/conv/conv_pairs.h"
#include "hotaru/backend/cpu/conv/windows.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// Scratch memory, uninitialised.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t n) : data_(new T[size_t(n)]) {}
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

// f(sample, group) for each, in parallel.
template <class F>
void for_samples(const Geometry& g, const F& f) {
  const int64_t work = g.depth() * g.group_out() * g.out_size();
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, work));
  parallel_for(0, g.n * g.groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / g.groups, i % g.groups);
  });
}

template <class T>
void forward(const Geometry& g, T* y, const T* x, const T* w, const T* bias) {
  const int64_t size = g.out_size(), rows = g.group_out();
  for_samples(g, [&](int64_t n, int64_t group) {
    const T* input = x + (n * g.c + group * g.group_in()) * g.in_size();
    const T* weight = w + group * rows * g.depth();
    T* to = y + (n * g.o + group * rows) * size;
    Epilogue<T> epilogue;
    epilogue.bias = bias ? bias + group * rows : nullptr;
    epilogue.bias_per_row = true;
    Buffer<T> windows(g.pointwise() ? 0 : g.depth() * g.tile());
    for (int64_t at = 0; at < size; at += g.tile()) {
      const int64_t end = std::min(size, at + g.tile()), width = end - at;
      MatrixRef<T> columns{input + at, size, 1};
      if (!g.pointwise()) {
        unroll(g, input, at, end, windows.data());
        columns = {windows.data(), width, 1};
      }
      gemm<T>(rows, width, g.depth(), T(1), {weight, g.depth(), 1}, columns,
              T(0), to + at, size, epilogue);
    }
  });
}

template <class T>
void data(const Geometry& g, T* x, const T* y, const T* w, const T* bias) {
  const int64_t size = g.out_size(), rows = g.group_out();
  const int64_t plane = g.in_size();
  for_samples(g, [&](int64_t n, int64_t group) {
    const int64_t first = group * g.group_in();
    const MatrixRef<T> weight{w + group * rows * g.depth(), 1, g.depth()};
    const T* from = y + (n * g.o + group * rows) * size;
    T* to = x + (n * g.c + first) * plane;
    for (int64_t c = 0; c < g.group_in(); ++c)
      std::fill_n(to + c * plane, plane, bias ? bias[first + c] : T(0));
    Buffer<T> windows(g.depth() * g.tile());
    for (int64_t at = 0; at < size; at += g.tile()) {
      const int64_t end = std::min(size, at + g.tile()), width = end - at;
      gemm<T>(g.depth(), width, rows, T(1), weight, {from + at, size, 1}, T(0),
              windows.data(), width);
      roll_up(g, windows.data(), at, end, to);
    }
  });
}

template <class T>
void weight(const Geometry& g, T* w, const T* y, const T* x) {
  const int64_t size = g.out_size(), rows = g.group_out();
  // Groups are independent; the samples of one are summed in order.
  parallel_for(0, g.groups, 1, [&](int64_t begin, int64_t end) {
    Buffer<T> windows(g.depth() * g.tile());
    for (int64_t group = begin; group < end; ++group) {
      T* to = w + group * rows * g.depth();
      std::fill_n(to, rows * g.depth(), T(0));
      for (int64_t n = 0; n < g.n; ++n) {
        const T* input = x + (n * g.c + group * g.group_in()) * g.in_size();
        const T* from = y + (n * g.o + group * rows) * size;
        for (int64_t at = 0; at < size; at += g.tile()) {
          const int64_t stop = std::min(size, at + g.tile());
          const int64_t width = stop - at;
          unroll(g, input, at, stop, windows.data());
          gemm<T>(rows, g.depth(), width, T(1), {from + at, size, 1},
                  {windows.data(), 1, width}, T(1), to, g.depth());
        }
      }
    }
  });
}

/// float and double have SIMD kernels.
template <class T>
constexpr bool kFast = std::is_floating_point_v<T>;

ConvGeometry fast_geometry(const Geometry& g) {
  return {g.n,      g.c,      g.o,       g.groups,  g.in,
          g.kernel, g.stride, g.padding, g.dilation};
}

/// Whether the windows end where the outputs do: a transposed convolution may
/// have padded its result by more than a stride.
bool exact(const Geometry& g) {
  return fast_geometry(g).out() == g.out;
}

/// y from operands of T. 16-bit floats go the way of floats, or in pairs; so do
/// floats that may be rounded.
template <class T>
void run_forward(const Geometry& g, bool rounds, T* y, const T* x, const T* w,
                 const T* bias) {
  const int64_t x_size = g.n * g.c * g.in_size();
  const bool simple = x_size > 0 && exact(g);
  if constexpr (std::is_same_v<T, BFloat16>)
    if (simple && PlaneConv::serves_forward(fast_geometry(g)))
      return PlaneConv::forward(fast_geometry(g)).run(x, w, bias, y);
  if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, float>)
    if (rounds && simple && pays_to_pair(fast_geometry(g)))
      return conv_forward_pairs(fast_geometry(g), x, w, bias, y);
  if constexpr (kFast<T>)
    if (simple)
      return hotaru::conv_forward<T>(fast_geometry(g), x, w, bias,
                                     Activation::kNone, y);
  if constexpr (kIsReduced<T>) {
    const Tensor input = widened(x, x_size),
                 weight = widened(w, g.o * g.depth()), add = widened(bias, g.o);
    through_floats(y, g.n * g.o * g.out_size(), [&](float* to) {
      run_forward(g, false, to, input.data<float>(), weight.data<float>(),
                  bias ? add.data<float>() : nullptr);
    });
  } else {
    forward(g, y, x, w, bias);
  }
}

constexpr KernelTypes<NumberTypes> kForwardTypes{0, "slow_conv"};

void conv_forward(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  const Tensor& bias = call.tensor(3);
  const auto& attributes = call.attributes<ConvAttributes>();
  const Geometry g(x, w, y, attributes);
  kForwardTypes.visit(call, [&]<class T>() {
    const T* add = bias.defined() ? bias.data<T>() : nullptr;
    if (y.numel() == 0) return;
    run_forward(g, attributes.bf16 || std::is_same_v<T, BFloat16>, y.data<T>(),
                x.data<T>(), w.data<T>(), add);
  });
}

/// x from y for operands of T, of which float and double have fast kernels.
template <class T>
void run_data(const Geometry& g, T* x, const T* y, const T* w, const T* bias) {
  const int64_t y_size = g.n * g.o * g.out_size();
  if constexpr (std::is_same_v<T, BFloat16>)
    if (y_size > 0 && exact(g) && PlaneConv::serves_data(fast_geometry(g)))
      return PlaneConv::data(fast_geometry(g)).run(y, w, bias, x);
  if constexpr (kFast<T>)
    if (y_size > 0 && exact(g))
      return conv_backward_data<T>(fast_geometry(g), y, w, bias, x);
  if constexpr (kIsReduced<T>) {
    const Tensor from = widened(y, y_size),
                 weight = widened(w, g.o * g.depth()), add = widened(bias, g.c);
    through_floats(x, g.n * g.c * g.in_size(), [&](float* to) {
      run_data(g, to, from.data<float>(), weight.data<float>(),
               bias ? add.data<float>() : nullptr);
    });
  } else {
    data(g, x, y, w, bias);
  }
}

/// w from y and x.
template <class T>
void run_weight(const Geometry& g, T* w, const T* y, const T* x) {
  const int64_t x_size = g.n * g.c * g.in_size();
  const int64_t y_size = g.n * g.o * g.out_size();
  if constexpr (std::is_same_v<T, BFloat16>)
    if (x_size > 0 && y_size > 0 && exact(g) &&
        PlaneWeights::serves(fast_geometry(g)))
      return PlaneWeights(fast_geometry(g)).run(y, x, w);
  if constexpr (kFast<T>)
    if (x_size > 0 && y_size > 0 && exact(g))
      return conv_backward_weight<T>(fast_geometry(g), y, x, w);
  if constexpr (kIsReduced<T>) {
    const Tensor from = widened(y, y_size), input = widened(x, x_size);
    through_floats(w, g.o * g.depth(), [&](float* to) {
      run_weight(g, to, from.data<float>(), input.data<float>());
    });
  } else {
    weight(g, w, y, x);
  }
}

constexpr KernelTypes<NumberTypes> kDataTypes{0, "slow_conv_transpose"};

void conv_data(const KernelCall& call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1), &w = call.tensor(2);
  const Tensor& bias = call.tensor(3);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  kDataTypes.visit(call, [&]<class T>() {
    const T* add = bias.defined() ? bias.data<T>() : nullptr;
    if (x.numel() == 0) return;
    run_data(g, x.data<T>(), y.data<T>(), w.data<T>(), add);
  });
}

constexpr KernelTypes<NumberTypes> kWeightTypes{0, "slow_conv_backward"};

void conv_weight(const KernelCall& call) {
  const Tensor &w = call.tensor(0), &y = call.tensor(1), &x = call.tensor(2);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  kWeightTypes.visit(call, [&]<class T>() {
    if (w.numel() == 0) return;
    run_weight(g, w.data<T>(), y.data<T>(), x.data<T>());
  });
}

/// Batch norm as x * scale + shift, in `room` of twice the channels; as
/// "batch_norm" computes it. Null without one.
template <class T>
ConvTail<T> norm_tail(const KernelCall& call, double eps, T* room) {
  if (!call.tensor(4).defined()) return {};
  const int64_t n = call.tensor(0).size(1);
  const T *mean = call.tensor(4).data<T>(),
          *variance = call.tensor(5).data<T>();
  const T* weight =
      call.tensor(6).defined() ? call.tensor(6).data<T>() : nullptr;
  const T* bias = call.tensor(7).defined() ? call.tensor(7).data<T>() : nullptr;
  T *scale = room, *shift = room + n;
  for (int64_t c = 0; c < n; ++c)
    scale[c] = T(1 / std::sqrt(double(variance[c]) + eps));
  for (int64_t c = 0; c < n && weight; ++c) scale[c] *= weight[c];
  for (int64_t c = 0; c < n; ++c) shift[c] = -(mean[c] * scale[c]);
  for (int64_t c = 0; c < n && bias; ++c) shift[c] += bias[c];
  return {scale, shift, nullptr};
}

constexpr KernelTypes<TypeList<float, double>> kFusedTypes{0, "conv_fused"};

void conv_fused(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  const Tensor &bias = call.tensor(3), &residual = call.tensor(8);
  const auto& a = call.attributes<ConvFusedAttributes>();
  const Geometry g(x, w, y, a.conv);
  kFusedTypes.visit(call, [&]<class T>() {
    thread_local std::vector<T> room;
    room.resize(size_t(2 * g.o));
    ConvTail<T> tail = norm_tail<T>(call, a.eps, room.data());
    if (residual.defined()) tail.residual = residual.data<T>();
    hotaru::conv_forward<T>(fast_geometry(g), x.data<T>(), w.data<T>(),
                            bias.defined() ? bias.data<T>() : nullptr,
                            a.relu ? Activation::kRelu : Activation::kNone,
                            y.data<T>(), nullptr, tail);
  });
}

HOTARU_KERNEL(kCPU, "conv_forward", conv_forward, check_types<kForwardTypes>);
HOTARU_KERNEL(kCPU, "conv_fused", conv_fused, check_types<kFusedTypes>);
HOTARU_KERNEL(kCPU, "conv_data", conv_data, check_types<kDataTypes>);
HOTARU_KERNEL(kCPU, "conv_weight", conv_weight, check_types<kWeightTypes>);

}  // namespace
}  // namespace hotaru::cpu
