// Sliding windows as columns: what nn.Unfold and nn.Fold call.
#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/linear_map.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

// "(2, 2)".
std::string pair_text(const Dims& d) {
  return concat("(", d[0], ", ", d[1], ")");
}

Dims pair(const char* what, IntSpan values, int64_t least) {
  HOTARU_CHECK(values.size() == 1 || values.size() == 2, "It is expected ",
               what, " equals to 2, but got size ", values.size());
  const Dims out = values.size() == 1 ? Dims(2, values[0]) : Dims(values);
  HOTARU_CHECK(out[0] >= least && out[1] >= least && out[0] < (1 << 30) &&
                       out[1]<(1 << 30), what, " should be ", least> 0
                   ? "greater than zero"
                   : "non-negative",
               ", but got ", pair_text(out));
  return out;
}

UnfoldAttributes attributes(IntSpan image, IntSpan kernel, IntSpan dilation,
                            IntSpan padding, IntSpan stride) {
  UnfoldAttributes a;
  a.kernel = pair("kernel_size", kernel, 1);
  a.window.dilation = pair("dilation", dilation, 1);
  a.window.padding = pair("padding", padding, 0);
  a.window.stride = pair("stride", stride, 1);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t reach = a.window.dilation[d] * (a.kernel[d] - 1) + 1;
    const int64_t room = image[d] + 2 * a.window.padding[d] - reach;
    a.output.push_back(room < 0 ? 0 : room / a.window.stride[d] + 1);
  }
  return a;
}

Tensor im2col(const Tensor& self, IntSpan kernel_size, IntSpan dilation,
              IntSpan padding, IntSpan stride) {
  static const Kernel& forward = kernel("im2col");
  static const Kernel& transposed = kernel("col2im");
  check_inexact("im2col_out_cpu", self);
  HOTARU_CHECK((self.dim() == 3 && self.numel() > 0) ||
                   (self.dim() == 4 && self.size(1) > 0 && self.size(2) > 0 &&
                    self.size(3) > 0),
               "Expected 3D or 4D (batch mode) tensor with possibly 0 batch "
               "size and other non-zero dimensions for input, but got: ",
               shape_text(self.sizes()));
  const Tensor x = self.dim() == 3 ? unsqueeze(self, 0) : self;
  const auto a =
      attributes(x.sizes().last(2), kernel_size, dilation, padding, stride);
  HOTARU_CHECK(
      a.output[0] > 0 && a.output[1] > 0, "Given input with spatial size ",
      pair_text(Dims(x.sizes().last(2))), ", kernel_size=", pair_text(a.kernel),
      ", dilation=", pair_text(a.window.dilation),
      ", padding=", pair_text(a.window.padding),
      ", calculated shape of the array of sliding blocks as ",
      pair_text(a.output), ", but its components must be at least one.");
  const Dims size{x.size(0),
                  numel_of(Dims{x.size(1), a.kernel[0], a.kernel[1]}),
                  numel_of(a.output)};
  const Tensor out = apply_linear(
      {"Im2ColBackward0", "Col2ImBackward0", &forward, &transposed}, x, size,
      a);
  return self.dim() == 3 ? squeeze(out, 0) : out;
}

Tensor col2im(const Tensor& self, IntSpan output_size, IntSpan kernel_size,
              IntSpan dilation, IntSpan padding, IntSpan stride) {
  static const Kernel& forward = kernel("col2im");
  static const Kernel& transposed = kernel("im2col");
  check_inexact("col2im_out_cpu", self);
  HOTARU_CHECK(self.dim() == 2 || self.dim() == 3,
               "Expected 2D or 3D (batch mode) tensor for input with possibly "
               "0 batch size and non-zero dimensions for input, but got: ",
               shape_text(self.sizes()));
  const Tensor x = self.dim() == 2 ? unsqueeze(self, 0) : self;
  const Dims image = pair("output_size", output_size, 0);
  const auto a = attributes(image, kernel_size, dilation, padding, stride);
  const int64_t window = a.kernel[0] * a.kernel[1];
  HOTARU_CHECK(x.size(1) % window == 0,
               "Expected size of input's dimension 1 to be divisible by the "
               "product of kernel_size, but got input.size(1)=",
               x.size(1), " and kernel_size=", pair_text(a.kernel), ".");
  const int64_t blocks = a.output[0] * a.output[1];
  HOTARU_CHECK(x.size(2) == blocks, "Given output_size=", pair_text(image),
               ", kernel_size=", pair_text(a.kernel),
               ", dilation=", pair_text(a.window.dilation),
               ", padding=", pair_text(a.window.padding),
               ", stride=", pair_text(a.window.stride),
               ", expected size of input's dimension 2 to match the "
               "calculated number of sliding blocks ",
               a.output[0], " * ", a.output[1], " = ", blocks,
               ", but got input.size(2)=", x.size(2), ".");
  const Dims size{x.size(0), x.size(1) / window, image[0], image[1]};
  const Tensor out = apply_linear(
      {"Col2ImBackward0", "Im2ColBackward0", &forward, &transposed}, x, size,
      a);
  return self.dim() == 2 ? squeeze(out, 0) : out;
}

}  // namespace

HOTARU_OP(
    "im2col(Tensor self, int[2] kernel_size, int[2] dilation, "
    "int[2] padding, int[2] stride) -> Tensor",
    im2col);
HOTARU_OP(
    "col2im(Tensor self, int[2] output_size, int[2] kernel_size, "
    "int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    col2im);

}  // namespace hotaru
