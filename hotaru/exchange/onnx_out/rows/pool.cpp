// Pooling.
#include "hotaru/core/host.h"
#include "hotaru/exchange/onnx_out/rows/common.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

namespace {

template <int kDims>
struct Window {
  static constexpr size_t n = kDims;

  explicit Window(const Lowering& l)
      : batched(l.rank() == kDims + 2),
        kernel(l.integers("kernel_size", n)),
        stride(l.given("stride") ? l.integers("stride", n) : Ints{}),
        padding(l.integers("padding", n)) {
    if (stride.empty()) stride = kernel;
    pads = padding;
    pads.insert(pads.end(), padding.begin(), padding.end());
    x = l.tensor(0);
    if (!batched) x = l.unsqueeze(x, {0});
  }

  std::vector<Attribute> attributes(const Lowering& l) const {
    return {attr("kernel_shape", kernel), attr("strides", stride),
            attr("pads", pads),
            attr("ceil_mode", int64_t{l.flag("ceil_mode")})};
  }

  bool batched;
  Ints kernel, stride, padding, pads;
  std::string x;
};

template <int kDims>
std::string unbatched(const Lowering& l, const Window<kDims>& window,
                      const std::string& y) {
  return window.batched ? y : l.squeeze(y, {0});
}

template <int kDims>
void max_pool(Lowering& l) {
  const Window<kDims> window(l);
  auto attributes = window.attributes(l);
  attributes.push_back(attr("dilations", l.integers("dilation", kDims)));
  l.result(unbatched(l, window, l.op("MaxPool", {window.x}, attributes)));
}

// ONNX counts an index through all channels and pictures, PyTorch within one.
template <int kDims>
void max_pool_indices(Lowering& l) {
  const Window<kDims> window(l);
  auto attributes = window.attributes(l);
  attributes.push_back(attr("dilations", l.integers("dilation", kDims)));
  const Names both = l.many("MaxPool", {window.x}, 2, attributes);
  int64_t plane = 1;
  for (int64_t i = l.rank() - kDims; i < l.rank(); ++i) {
    const auto size = l.example(0).size(i);
    if (!size) l.refuse("indices in pictures of a dynamic size");
    plane *= *size;
  }
  const std::string within =
      l.op("Mod", {both[1], l.number(Scalar(plane), DType::kInt64)});
  l.results({unbatched(l, window, both[0]), unbatched(l, window, within)});
}

// Zeros behind x for the windows that ceil_mode lets hang over.
template <int kDims>
std::string overhung(const Lowering& l, const Window<kDims>& window) {
  const size_t n = kDims;
  Ints pads(2 * (n + 2), 0);
  bool some = false;
  for (size_t i = 0; i < n; ++i) {
    const auto in = l.example(0).size(l.rank() - kDims + int64_t(i));
    const auto out = l.out().size(l.rank() - kDims + int64_t(i));
    if (!in || !out)
      l.refuse("'divisor_override' with 'ceil_mode' of a dynamic size");
    const int64_t over = (*out - 1) * window.stride[i] + window.kernel[i] -
                         *in - 2 * window.padding[i];
    pads[2 + i] = window.padding[i];
    pads[n + 4 + i] = window.padding[i] + over;
    some = some || over > 0;
  }
  return some ? l.op("Pad", {window.x, l.ints(pads)}) : "";
}

// ONNX divides by what lies within a window: sums are means of whole windows,
// of zeros too, times their area.
template <int kDims>
std::string divided_sum(const Lowering& l, const Window<kDims>& window) {
  double area = 1;
  for (int64_t side : window.kernel) area *= double(side);
  const std::string hung = l.flag("ceil_mode") ? overhung(l, window) : "";
  std::vector<Attribute> attributes = {attr("kernel_shape", window.kernel),
                                       attr("strides", window.stride)};
  if (hung.empty()) {
    attributes.push_back(attr("pads", window.pads));
    attributes.push_back(attr("count_include_pad", 1));
  }
  const std::string mean =
      l.op("AveragePool", {hung.empty() ? window.x : hung}, attributes);
  const double factor = area / double(l.integer("divisor_override"));
  return l.op("Mul", {mean, like(l, factor, l.dtype())});
}

template <int kDims>
void avg_pool(Lowering& l) {
  const Window<kDims> window(l);
  if (l.given("divisor_override"))
    return l.result(unbatched(l, window, divided_sum(l, window)));
  auto attributes = window.attributes(l);
  attributes.push_back(
      attr("count_include_pad", int64_t{l.flag("count_include_pad")}));
  l.result(unbatched(l, window, l.op("AveragePool", {window.x}, attributes)));
}

// The window of a pooling that gives an even grid.
template <int kDims>
std::optional<std::vector<Attribute>> even_window(const Lowering& l,
                                                  const Ints& sizes) {
  Ints kernel;
  for (int i = 0; i < kDims; ++i) {
    const auto in = l.example(0).size(l.rank() - kDims + i);
    if (!in || sizes[size_t(i)] == 0 || *in % sizes[size_t(i)] != 0)
      return std::nullopt;
    kernel.push_back(*in / sizes[size_t(i)]);
  }
  return {{attr("kernel_shape", kernel), attr("strides", kernel)}};
}

template <int kDims>
Ints output_size(const Lowering& l) {
  Ints out;
  for (int i = 0; i < kDims; ++i) {
    const auto size = l.out().size(l.out().dim() - kDims + i);
    if (!size) l.refuse("to a size that depends on inputs");
    out.push_back(*size);
  }
  return out;
}

template <int kDims>
Ints last_dims(const Lowering& l) {
  Ints out;
  for (int64_t i = l.rank() - kDims; i < l.rank(); ++i) out.push_back(i);
  return out;
}

// Each place of the output is the mean of its own part of the input; parts of
// different sizes are products with matrices of weights.
template <int kDims>
void adaptive_avg_pool(Lowering& l) {
  const Ints sizes = output_size<kDims>(l);
  const std::string x = l.tensor(0);
  if (std::all_of(sizes.begin(), sizes.end(), [](int64_t s) { return s == 1; }))
    return l.result(l.reduce("ReduceMean", x, last_dims<kDims>(l), true));
  const bool batched = l.rank() == kDims + 2;
  if (auto attributes = even_window<kDims>(l, sizes)) {
    const std::string y =
        l.op("AveragePool", {batched ? x : l.unsqueeze(x, {0})}, *attributes);
    return l.result(batched ? y : l.squeeze(y, {0}));
  }
  std::string y = x;
  for (int i = 0; i < kDims; ++i) {
    const int64_t dim = l.rank() - kDims + i;
    const auto in = l.example(0).size(dim);
    if (!in) l.refuse("of a dynamic size to other than 1");
    const int64_t out = sizes[size_t(i)];
    Tensor weights =
        zeros(Dims{*in, out}, TensorOptions(DType::kFloat32, Device{}));
    float* at = host_data<float>(weights, "onnx");
    for (int64_t o = 0; o < out; ++o) {
      const int64_t begin = o * *in / out;
      const int64_t end = ((o + 1) * *in + out - 1) / out;
      for (int64_t k = begin; k < end; ++k)
        at[k * out + o] = 1 / float(end - begin);
    }
    Ints order = iota(l.rank());
    std::swap(order[size_t(dim)], order.back());
    const bool last = dim == l.rank() - 1;
    if (!last) y = l.transpose(y, order);
    y = l.op("MatMul", {y, l.cast(l.emitter().constant(weights),
                                  DType::kFloat32, l.dtype())});
    if (!last) y = l.transpose(y, order);
  }
  l.result(y);
}

template <int kDims>
void adaptive_max_pool(Lowering& l) {
  const Ints sizes = output_size<kDims>(l);
  const auto attributes = even_window<kDims>(l, sizes);
  if (!attributes) l.refuse("to sizes that do not divide the input's");
  const bool batched = l.rank() == kDims + 2;
  std::string x = l.tensor(0);
  if (!batched) x = l.unsqueeze(x, {0});
  const Names both = l.many("MaxPool", {x}, 2, *attributes);
  int64_t plane = 1;
  for (int64_t dim : last_dims<kDims>(l)) plane *= *l.example(0).size(dim);
  const std::string within =
      l.op("Mod", {both[1], l.number(Scalar(plane), DType::kInt64)});
  l.results({batched ? both[0] : l.squeeze(both[0], {0}),
             batched ? within : l.squeeze(within, {0})});
}

constexpr Row kPoolRows[] = {
    {"max_pool1d", max_pool<1>},
    {"max_pool2d", max_pool<2>},
    {"max_pool3d", max_pool<3>},
    {"max_pool1d_with_indices", max_pool_indices<1>},
    {"max_pool2d_with_indices", max_pool_indices<2>},
    {"max_pool3d_with_indices", max_pool_indices<3>},
    {"avg_pool1d", avg_pool<1>},
    {"avg_pool2d", avg_pool<2>},
    {"avg_pool3d", avg_pool<3>},
    {"adaptive_avg_pool1d", adaptive_avg_pool<1>},
    {"adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"_adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"adaptive_avg_pool3d", adaptive_avg_pool<3>},
    {"adaptive_max_pool1d", adaptive_max_pool<1>},
    {"adaptive_max_pool2d", adaptive_max_pool<2>},
    {"adaptive_max_pool3d", adaptive_max_pool<3>},
};

}  // namespace

Rows pool_rows() {
  return kPoolRows;
}

}  // namespace hotaru::exchange::onnx_out
