// The kernels of convolution and its gradients; which algorithm computes a call
// say ways.cpp and gradients/gradient_ways.cpp.
#include "hotaru/backend/common/conv/conv.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/conv/gradients/gradient_ways.h"
#include "hotaru/backend/cpu/conv/ways.h"
#include "hotaru/backend/cpu/conv/windows.h"

namespace hotaru::cpu {
namespace {

ConvGeometry fast_geometry(const Geometry& g) {
  return {g.n,      g.c,      g.o,       g.groups,  g.in,
          g.kernel, g.stride, g.padding, g.dilation};
}

/// Tells whether the windows end where the outputs do, and none of these is
/// empty.
bool fits(const Geometry& g, std::initializer_list<int64_t> sizes) {
  return std::min(sizes) > 0 && fast_geometry(g).out() == g.out;
}

constexpr KernelTypes<NumberTypes> kForwardTypes{0, "slow_conv"};

template <class T>
ConvCall<T> forward_call(const Geometry& g, const KernelCall& call) {
  return {.geometry = fast_geometry(g),
          .fits = fits(g, {g.n * g.c * g.in_size()}),
          .rounds = call.attributes<ConvAttributes>().bf16,
          .windows = &g};
}

void conv_forward(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  const Tensor& bias = call.tensor(3);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  kForwardTypes.visit(call, [&]<class T>() {
    if (y.numel() == 0) return;
    ConvCall<T> c = forward_call<T>(g, call);
    c.y = y.data<T>();
    c.x = x.data<T>();
    c.weight = w.data<T>();
    c.bias = bias.defined() ? bias.data<T>() : nullptr;
    convolve(c);
  });
}

[[gnu::cold]] WayAnswers explain_forward(const KernelCall& call) {
  const Geometry g(call.tensor(1), call.tensor(2), call.tensor(0),
                   call.attributes<ConvAttributes>());
  WayAnswers answers;
  visit_ways(call.tensor(0).dtype(), [&]<class T>() {
    answers = explain_convolution(forward_call<T>(g, call));
  });
  return answers;
}

constexpr KernelTypes<NumberTypes> kDataTypes{0, "slow_conv_transpose"};

template <class T>
ConvGradient<T> data_call(const Geometry& g) {
  return {.geometry = fast_geometry(g),
          .fits = fits(g, {g.n * g.o * g.out_size()}),
          .windows = &g};
}

void conv_data(const KernelCall& call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1), &w = call.tensor(2);
  const Tensor& bias = call.tensor(3);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  kDataTypes.visit(call, [&]<class T>() {
    if (x.numel() == 0) return;
    ConvGradient<T> c = data_call<T>(g);
    c.out = x.data<T>();
    c.dy = y.data<T>();
    c.other = w.data<T>();
    c.bias = bias.defined() ? bias.data<T>() : nullptr;
    data_gradient(c);
  });
}

[[gnu::cold]] WayAnswers explain_data(const KernelCall& call) {
  const Geometry g(call.tensor(0), call.tensor(2), call.tensor(1),
                   call.attributes<ConvAttributes>());
  WayAnswers answers;
  visit_ways(call.tensor(0).dtype(), [&]<class T>() {
    answers = explain_data_gradient(data_call<T>(g));
  });
  return answers;
}

constexpr KernelTypes<NumberTypes> kWeightTypes{0, "slow_conv_backward"};

template <class T>
ConvGradient<T> weight_call(const Geometry& g) {
  return {.geometry = fast_geometry(g),
          .fits = fits(g, {g.n * g.c * g.in_size(), g.n * g.o * g.out_size()}),
          .windows = &g};
}

void conv_weight(const KernelCall& call) {
  const Tensor &w = call.tensor(0), &y = call.tensor(1), &x = call.tensor(2);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  kWeightTypes.visit(call, [&]<class T>() {
    if (w.numel() == 0) return;
    ConvGradient<T> c = weight_call<T>(g);
    c.out = w.data<T>();
    c.dy = y.data<T>();
    c.other = x.data<T>();
    weight_gradient(c);
  });
}

[[gnu::cold]] WayAnswers explain_weight(const KernelCall& call) {
  const Geometry g(call.tensor(2), call.tensor(0), call.tensor(1),
                   call.attributes<ConvAttributes>());
  WayAnswers answers;
  visit_ways(call.tensor(0).dtype(), [&]<class T>() {
    answers = explain_weight_gradient(weight_call<T>(g));
  });
  return answers;
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

template <class T>
ConvCall<T> fused_call(const Geometry& g, const KernelCall& call) {
  const bool relu = call.attributes<ConvFusedAttributes>().relu;
  return {.geometry = fast_geometry(g),
          .activation = relu ? Activation::kRelu : Activation::kNone};
}

void conv_fused(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  const Tensor &bias = call.tensor(3), &residual = call.tensor(8);
  const auto& a = call.attributes<ConvFusedAttributes>();
  const Geometry g(x, w, y, a.conv);
  kFusedTypes.visit(call, [&]<class T>() {
    thread_local std::vector<T> room;
    room.resize(size_t(2 * g.o));
    ConvCall<T> c = fused_call<T>(g, call);
    c.tail = norm_tail<T>(call, a.eps, room.data());
    if (residual.defined()) c.tail.residual = residual.data<T>();
    c.y = y.data<T>();
    c.x = x.data<T>();
    c.weight = w.data<T>();
    c.bias = bias.defined() ? bias.data<T>() : nullptr;
    convolve_floats(c);
  });
}

[[gnu::cold]] WayAnswers explain_fused(const KernelCall& call) {
  const Geometry g(call.tensor(1), call.tensor(2), call.tensor(0),
                   call.attributes<ConvFusedAttributes>().conv);
  WayAnswers answers;
  kFusedTypes.visit(call, [&]<class T>() {
    ConvCall<T> c = fused_call<T>(g, call);
    // Rows ask whether there is one, and read nothing.
    static const T kSome{};
    if (call.tensor(8).defined()) c.tail.residual = &kSome;
    answers = explain_floats(c);
  });
  return answers;
}

HOTARU_KERNEL(kCPU, "conv_forward", conv_forward, check_types<kForwardTypes>);
HOTARU_KERNEL(kCPU, "conv_fused", conv_fused, check_types<kFusedTypes>);
HOTARU_KERNEL(kCPU, "conv_data", conv_data, check_types<kDataTypes>);
HOTARU_KERNEL(kCPU, "conv_weight", conv_weight, check_types<kWeightTypes>);
const KernelWays forward_ways(DeviceType::kCPU, "conv_forward",
                              explain_forward),
    fused_ways(DeviceType::kCPU, "conv_fused", explain_fused),
    data_ways(DeviceType::kCPU, "conv_data", explain_data),
    weight_ways(DeviceType::kCPU, "conv_weight", explain_weight);

}  // namespace
}  // namespace hotaru::cpu
