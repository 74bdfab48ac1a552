// Convolutions.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

struct Geometry {
  Ints stride, padding, dilation, output_padding;
  int64_t groups = 1;
};

Ints both_sides(const Ints& padding) {
  Ints out = padding;
  out.insert(out.end(), padding.begin(), padding.end());
  return out;
}

// Inputs without a batch get one.
void convolve(Lowering& l, const Geometry& g, const Ints& pads,
              bool transposed) {
  const size_t n = size_t(l.example("weight").dim()) - 2;
  const bool batched = l.rank() == int64_t(n) + 2;
  const DType of = l.out().dtype();
  std::string x = l.tensor(0, of);
  if (!batched) x = l.unsqueeze(x, {0});
  Names inputs = {x, l.tensor("weight", of)};
  if (l.given("bias")) inputs.push_back(l.tensor("bias", of));
  Ints kernel;
  for (size_t i = 0; i < n; ++i) {
    const auto size = l.example("weight").size(int64_t(i) + 2);
    if (!size) l.refuse("a kernel of a dynamic size");
    kernel.push_back(*size);
  }
  std::vector<Attribute> attributes = {
      attr("dilations", g.dilation), attr("group", g.groups),
      attr("kernel_shape", kernel), attr("pads", pads),
      attr("strides", g.stride)};
  if (transposed)
    attributes.push_back(attr("output_padding", g.output_padding));
  std::string y =
      l.op(transposed ? "ConvTranspose" : "Conv", inputs, attributes);
  if (!batched) y = l.squeeze(y, {0});
  l.result(y);
}

Geometry geometry(const Lowering& l) {
  const size_t n = size_t(l.example("weight").dim()) - 2;
  Geometry g;
  g.stride = l.integers("stride", n);
  g.dilation = l.integers("dilation", n);
  g.groups = l.integer("groups");
  g.output_padding =
      l.given("output_padding") ? l.integers("output_padding", n) : Ints(n, 0);
  return g;
}

void conv(Lowering& l) {
  const size_t n = size_t(l.example("weight").dim()) - 2;
  const Geometry g = geometry(l);
  if (!l.at("padding").is_host() || !l.at("padding").host.is_string())
    return convolve(l, g, both_sides(l.integers("padding", n)), false);
  Ints pads(2 * n, 0);
  if (l.text("padding") == "same") {
    for (size_t i = 0; i < n; ++i) {
      const int64_t all =
          g.dilation[i] *
          (l.example("weight").size(int64_t(i) + 2).value_or(1) - 1);
      pads[i] = all / 2;
      pads[n + i] = all - all / 2;
    }
  }
  convolve(l, g, pads, false);
}

void conv_transpose(Lowering& l) {
  const size_t n = size_t(l.example("weight").dim()) - 2;
  convolve(l, geometry(l), both_sides(l.integers("padding", n)), true);
}

void convolution(Lowering& l) {
  const size_t n = size_t(l.example("weight").dim()) - 2;
  convolve(l, geometry(l), both_sides(l.integers("padding", n)),
           l.flag("transposed"));
}

constexpr Row kConvRows[] = {
    {"conv1d", conv},
    {"conv2d", conv},
    {"conv3d", conv},
    {"conv_transpose1d", conv_transpose},
    {"conv_transpose2d", conv_transpose},
    {"conv_transpose3d", conv_transpose},
    {"convolution", convolution},
    {"_convolution", convolution},
};

}  // namespace

Rows conv_rows() {
  return kConvRows;
}

}  // namespace hotaru::exchange::onnx_out
