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

// Where each element of each window of one side lies: [kernel, windows].
std::string places(const Lowering& l, int64_t side, int64_t kernel,
                   int64_t stride, int64_t dilation) {
  const int64_t windows = (side - dilation * (kernel - 1) - 1) / stride + 1;
  Ints at;
  for (int64_t k = 0; k < kernel; ++k)
    for (int64_t i = 0; i < windows; ++i)
      at.push_back(k * dilation + i * stride);
  return l.reshape(l.ints(at), {kernel, windows});
}

// Windows of a picture as columns.
void im2col(Lowering& l) {
  const Ints kernel = l.integers("kernel_size", 2);
  const Ints dilation = l.integers("dilation", 2);
  const Ints padding = l.integers("padding", 2);
  const Ints stride = l.integers("stride", 2);
  const bool batched = l.rank() == 4;
  std::string x = batched ? l.tensor(0) : l.unsqueeze(l.tensor(0), {0});
  Ints sides;
  for (int64_t i = 0; i < 2; ++i) {
    const auto side = l.example(0).size(l.rank() - 2 + i);
    if (!side) l.refuse("of a picture of dynamic size");
    sides.push_back(*side + 2 * padding[size_t(i)]);
  }
  if (padding[0] != 0 || padding[1] != 0) {
    const Ints both = {0, 0, padding[0], padding[1],
                       0, 0, padding[0], padding[1]};
    x = l.op("Pad", {x, l.ints(both)});
  }
  const std::string rows =
      places(l, sides[0], kernel[0], stride[0], dilation[0]);
  const std::string columns =
      places(l, sides[1], kernel[1], stride[1], dilation[1]);
  x = l.op("Gather", {x, rows}, {attr("axis", 2)});
  x = l.op("Gather", {x, columns}, {attr("axis", 4)});
  x = l.transpose(x, {0, 1, 2, 4, 3, 5});
  const int64_t rank = l.out().dim();
  const auto deep = l.out().size(rank - 2), wide = l.out().size(rank - 1);
  if (!deep || !wide) l.refuse("of a dynamic number of channels");
  // A size of 0 is that of the value: the pictures'.
  x = l.op("Reshape", {x, l.ints({0, *deep, *wide})});
  l.result(batched ? x : l.squeeze(x, {0}));
}

// Sums of columns where their windows overlap.
void col2im(Lowering& l) {
  if (l.opset() < 18) l.refuse("needs opset 18");
  const Ints kernel = l.integers("kernel_size", 2);
  const bool batched = l.rank() == 3;
  const std::string x = batched ? l.tensor(0) : l.unsqueeze(l.tensor(0), {0});
  const std::string y =
      l.op("Col2Im", {x, l.ints(l.integers("output_size", 2)), l.ints(kernel)},
           {attr("dilations", l.integers("dilation", 2)),
            attr("pads", both_sides(l.integers("padding", 2))),
            attr("strides", l.integers("stride", 2))});
  l.result(batched ? y : l.squeeze(y, {0}));
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
    {"im2col", im2col},
    {"col2im", col2im},
};

}  // namespace

Rows conv_rows() {
  return kConvRows;
}

}  // namespace hotaru::exchange::onnx_out
