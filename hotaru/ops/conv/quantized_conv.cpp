// Convolutions of 8-bit integers, as ONNX defines ConvInteger and QLinearConv.
#include "hotaru/backend/common/conv/int8.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/matmul/quantized.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr const char* kConv = "quantized convolution: ";

struct Windows {
  IntSpan stride, begin, end, dilation;
  int64_t groups;
};

void check_shapes(const Tensor& x, const Tensor& w, const Windows& v) {
  const size_t dims = size_t(w.dim()) - 2;
  HOTARU_CHECK(w.dim() >= 3 && w.dim() <= 5 && x.dim() == w.dim(), kConv,
               "one to three spatial dimensions are expected in both, got x ",
               shape_text(x.sizes()), " and w ", shape_text(w.sizes()));
  for (const IntSpan list : {v.stride, v.begin, v.end, v.dilation})
    HOTARU_CHECK(list.size() == dims, kConv,
                 "strides, pads and dilations need ", dims, " values, got ",
                 shape_text(list));
  for (size_t d = 0; d < dims; ++d)
    HOTARU_CHECK(v.stride[d] > 0 && v.dilation[d] > 0 && v.begin[d] >= 0 &&
                     v.end[d] >= 0,
                 kConv,
                 "strides and dilations should be positive and pads not "
                 "negative");
  HOTARU_CHECK(v.groups > 0 && w.size(0) % v.groups == 0 &&
                   x.size(1) / v.groups == w.size(1) &&
                   x.size(1) % v.groups == 0,
               kConv, "x ", shape_text(x.sizes()), " and w ",
               shape_text(w.sizes()), " do not fit ", v.groups, " groups");
}

/// y's size; `far` where padding or dilation step over much more than x.
Dims result_size(const Tensor& x, const Tensor& w, const Windows& v,
                 bool& far) {
  Dims size{x.size(0), w.size(0)};
  for (size_t d = 0; d < v.stride.size(); ++d) {
    const int64_t in = x.sizes()[d + 2], kernel = w.sizes()[d + 2];
    int64_t padded, window;
    const bool overflow =
        __builtin_add_overflow(in, v.begin[d], &padded) ||
        __builtin_add_overflow(padded, v.end[d], &padded) ||
        __builtin_mul_overflow(kernel - 1, v.dilation[d], &window) ||
        __builtin_add_overflow(window, 1, &window);
    HOTARU_CHECK(!overflow, kConv, "pads and dilations are too large");
    HOTARU_CHECK(kernel > 0 && window <= padded, kConv, "a window of ", window,
                 " does not fit into ", padded,
                 " padded elements of dimension ", d + 2);
    constexpr int64_t kNear = 1024;
    far = far || padded / 4 > in + kNear || v.stride[d] > padded + kNear;
    size.push_back((padded - window) / v.stride[d] + 1);
  }
  return size;
}

/// A number for all, or one a channel of dimension 1.
Tensor of_channels(const Tensor& t, const Tensor& w) {
  if (t.numel() == 1) return reshape(t, Dims{});
  Dims size(size_t(w.dim()) - 1, 1);
  size[0] = t.numel();
  return reshape(t, size);
}

/// The same of what other devices have: sums in double are exact up to 2^37
/// products, and wrap when int64 becomes int32.
Tensor composed(const Tensor& x, const Tensor& w, const Tensor& x_zero,
                const Tensor& w_zero, const Windows& v, const Tensor& bias,
                const Requantization& by) {
  const DType wide = DType::kFloat64;
  Tensor values = to(x, wide), weights = to(w, wide);
  if (x_zero.defined()) values = sub(values, to(reshape(x_zero, Dims{}), wide));
  if (w_zero.defined()) {
    const Tensor zero = of_channels(w_zero, w);
    weights = sub(weights, to(zero.dim() ? unsqueeze(zero, 1) : zero, wide));
  }
  const Dims none(v.stride.size(), 0);
  const bool even = same(v.begin, v.end);
  Dims pads;
  for (size_t d = v.stride.size(); d-- > 0;) {
    pads.push_back(v.begin[d]);
    pads.push_back(v.end[d]);
  }
  if (!even) values = constant_pad_nd(values, pads, 0);
  Tensor sums = to(to(convolution(values, weights, {}, v.stride,
                                  even ? v.begin : IntSpan(none), v.dilation,
                                  false, none, v.groups),
                      DType::kInt64),
                   DType::kInt32);
  if (bias.defined()) sums = add(sums, of_channels(bias, w));
  if (!by.defined()) return sums;
  const Tensor scale =
      div(mul(reshape(by.a_scale, Dims{}), of_channels(by.b_scale, w)),
          reshape(by.y_scale, Dims{}));
  return requantize(sums, scale, by.y_zero);
}

void check_channels(const char* name, const Tensor& t, const Tensor& w,
                    bool one) {
  if (!t.defined()) return;
  HOTARU_CHECK((one && t.numel() == 1) || t.numel() == w.size(0), kConv, name,
               " needs ", one ? "one entry or " : "", w.size(0), ", got ",
               t.numel());
}

Tensor convolve(const Tensor& x, const Tensor& w, const Tensor& x_zero,
                const Tensor& w_zero, const Windows& v, const Tensor& bias,
                const Requantization& by) {
  static const Kernel& run = kernel("int8_conv");
  check_quantized(kConv, "x", x, x_zero);
  check_quantized(kConv, "w", w, w_zero);
  check_shapes(x, w, v);
  HOTARU_CHECK(!x_zero.defined() || x_zero.numel() == 1, kConv,
               "x should have one zero point, got ",
               x_zero.defined() ? x_zero.numel() : 0);
  check_channels("w's zero point", w_zero, w, true);
  check_channels("the bias", bias, w, false);
  HOTARU_CHECK(!bias.defined() || bias.dtype() == DType::kInt32, kConv,
               "the bias should be int32");
  if (by.defined()) {
    check_requantization(kConv, by);
    HOTARU_CHECK(by.a_scale.numel() == 1, kConv,
                 "x should have one scale, got ", by.a_scale.numel());
    check_channels("w's scale", by.b_scale, w, true);
  }
  bool far = false;
  const Dims size = result_size(x, w, v, far);
  const Device device = x.device();
  if (far || (device.is_cuda() && !run.has(device.type)))
    return composed(x, w, x_zero, w_zero, v, bias, by);
  const Tensor out = allocate_result(size, by.dtype(), device);
  if (out.numel() == 0) return out;
  const auto dense = [](const Tensor& t) {
    return t.defined() ? contiguous(t) : t;
  };
  const Tensor xs = dense(x), ws = dense(w), zeros = dense(w_zero),
               biases = dense(bias), scales = dense(by.b_scale);
  enqueue(
      run,
      {write(out), read(xs), read(ws), read(x_zero), read(zeros), read(biases),
       read(by.a_scale), read(scales), read(by.y_scale), read(by.y_zero)},
      Int8ConvAttributes{Dims(v.stride), Dims(v.begin), Dims(v.dilation),
                         Dims(w.sizes().subspan(2)), w.size(1), v.groups});
  return out;
}

Tensor conv_integer(const Tensor& x, const Tensor& w, const Tensor& x_zero,
                    const Tensor& w_zero, IntSpan stride, IntSpan begin,
                    IntSpan end, IntSpan dilation, int64_t groups) {
  return convolve(x, w, x_zero, w_zero, {stride, begin, end, dilation, groups},
                  {}, {});
}

Tensor qlinear_conv(const Tensor& x, const Tensor& x_scale,
                    const Tensor& x_zero, const Tensor& w,
                    const Tensor& w_scale, const Tensor& w_zero,
                    const Tensor& y_scale, const Tensor& y_zero,
                    const Tensor& bias, IntSpan stride, IntSpan begin,
                    IntSpan end, IntSpan dilation, int64_t groups) {
  return convolve(x, w, x_zero, w_zero, {stride, begin, end, dilation, groups},
                  bias, {x_scale, w_scale, y_scale, y_zero});
}

HOTARU_OP(
    "hotaru::conv_integer(Tensor x, Tensor w, Tensor? x_zero, Tensor? w_zero, "
    "int[] stride, int[] begin, int[] end, int[] dilation, int groups) -> "
    "Tensor",
    conv_integer);
HOTARU_OP(
    "hotaru::qlinear_conv(Tensor x, Tensor x_scale, Tensor? x_zero, Tensor w, "
    "Tensor w_scale, Tensor? w_zero, Tensor y_scale, Tensor y_zero, Tensor? "
    "bias, int[] stride, int[] begin, int[] end, int[] dilation, int groups) "
    "-> Tensor",
    qlinear_conv);

}  // namespace
}  // namespace hotaru
