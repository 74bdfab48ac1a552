#include "hotaru/ops/conv/conv.h"

#include <algorithm>
#include <array>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/conv/conv_grad.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

constexpr const char* kConvNode = "ConvolutionBackward0";

// One value a spatial dimension out of a list that may hold a single one.
Dims spatial(const char* name, IntSpan values, int64_t dims) {
  HOTARU_CHECK(int64_t(values.size()) == dims || values.size() == 1,
               "expected ", name, " to be a single integer value or a list of ",
               dims, " values to match the convolution dimensions, but got ",
               name, "=", shape_text(values));
  return values.size() == 1 ? Dims(size_t(dims), values[0]) : Dims(values);
}

// "5 x 5", as this family's messages print sizes.
std::string by(const Dims& sizes) {
  std::string out;
  for (int64_t s : sizes) {
    if (!out.empty()) out += " x ";
    out += std::to_string(s);
  }
  return out;
}

/// Sizes as PyTorch's kernels see them: one dimension runs as two.
Dims as_planes(IntSpan sizes) {
  Dims out(sizes);
  if (sizes.size() == 3) out.insert(2, 1);
  return out;
}

void check_dtypes(const Tensor& input, const Tensor& weight,
                  const Tensor& bias) {
  check_operand(input.dtype(), weight.dtype());
  HOTARU_CHECK(!bias.defined() || bias.dtype() == input.dtype(), "Input type (",
               cpp_type_name(input.dtype()), ") and bias type (",
               bias.defined() ? cpp_type_name(bias.dtype()) : "",
               ") should be the same");
}

/// Refuses what PyTorch's kernel for these tensors has no code for; that an
/// input without batch or channels comes to no kernel is its caller's care.
void check_kernel(const Tensor& input, const Tensor& weight, IntSpan dilation,
                  bool transposed) {
  const size_t dims = dilation.size();
  const bool dilated = std::any_of(dilation.begin(), dilation.end(),
                                   [](int64_t d) { return d != 1; });
  const DType dtype = input.dtype();
  const bool narrow = is_integral(dtype, true) && dtype != DType::kInt64;
  if (transposed) {
    HOTARU_CHECK(weight.numel() > 0 || weight.size(0) == 0, "non-empty ",
                 dims == 3 ? "5D (n_output_plane x n_input_plane x "
                             "kernel_depth x kernel_height x kernel_width) "
                             "tensor expected for weight"
                           : "2D or 4D weight tensor expected",
                 ", but got: ", shape_text(as_planes(weight.sizes())));
    if (narrow)
      refuse_dtype(dims == 3 ? "slow_conv_transpose3d_out_cpu"
                             : "slow_conv_transpose2d_out_cpu",
                   dtype);
  } else if (dilated ? narrow : dtype == DType::kBool) {
    refuse_dtype(dilated     ? "slow_conv_dilated<>"
                 : dims == 3 ? "slow_conv3d_cpu"
                             : "slow_conv2d_cpu",
                 dtype);
  }
}

void check_parameters(const ConvAttributes& a, const Dims& output_padding) {
  for (int64_t p : a.padding)
    HOTARU_CHECK(p >= 0, "negative padding is not supported");
  for (int64_t s : a.stride)
    HOTARU_CHECK(s > 0, "non-positive stride is not supported");
  for (int64_t d : a.dilation)
    HOTARU_CHECK(d > 0, "dilation should be greater than zero, but got ",
                 shape_text(a.dilation));
  for (int64_t p : output_padding)
    HOTARU_CHECK(p >= 0, "negative output_padding is not supported");
  HOTARU_CHECK(a.groups > 0, "non-positive groups is not supported");
}

void check_channels(const Tensor& input, const Tensor& weight,
                    const Tensor& bias, int64_t groups, bool transposed) {
  const int64_t first = weight.size(0);
  const int64_t channels = input.size(1);
  HOTARU_CHECK(first >= groups, "Given groups=", groups,
               ", expected weight to be at least ", groups,
               " at dimension 0, but got weight of size ",
               shape_text(weight.sizes()), " instead");
  HOTARU_CHECK(first % groups == 0, "Given groups=", groups,
               ", expected weight to be divisible by ", groups,
               " at dimension 0, but got weight of size [",
               shape_text(weight.sizes()), "] instead");
  if (transposed) {
    HOTARU_CHECK(channels == first, "Given transposed=1, weight of size ",
                 shape_text(weight.sizes()), ", expected input",
                 shape_text(input.sizes()), " to have ", first,
                 " channels, but got ", channels, " channels instead");
  } else {
    HOTARU_CHECK(channels == weight.size(1) * groups, "Given groups=", groups,
                 ", weight of size ", shape_text(weight.sizes()),
                 ", expected input", shape_text(input.sizes()), " to have ",
                 weight.size(1) * groups, " channels, but got ", channels,
                 " channels instead");
  }
  const int64_t outputs = transposed ? weight.size(1) * groups : first;
  HOTARU_CHECK(
      !bias.defined() || (bias.dim() == 1 && bias.size(0) == outputs), "Given ",
      transposed ? "transposed=1, " : "", "weight of size ",
      shape_text(weight.sizes()), ", expected bias to be 1-dimensional with ",
      outputs, " elements, but got bias of size ",
      shape_text(bias.defined() ? bias.sizes() : IntSpan{}), " instead");
}

/// Positions along a dimension that a kernel spans.
int64_t window_of(const Tensor& weight, const ConvAttributes& a, size_t d) {
  int64_t window;
  const bool overflow =
      __builtin_mul_overflow(a.dilation[d], weight.sizes()[d + 2] - 1,
                             &window) ||
      __builtin_add_overflow(window, 1, &window);
  HOTARU_CHECK(!overflow, "convolution: dilation ", shape_text(a.dilation),
               " is too large for a weight of size ",
               shape_text(weight.sizes()));
  return window;
}

/// A size with its padding on both sides.
int64_t padded_size(int64_t size, const ConvAttributes& a, size_t d) {
  int64_t out;
  const bool overflow = __builtin_mul_overflow(a.padding[d], 2, &out) ||
                        __builtin_add_overflow(out, size, &out);
  HOTARU_CHECK(!overflow, "convolution: padding ", shape_text(a.padding),
               " is too large");
  return out;
}

/// Attributes for kernels of a convolution from `x_size` to `y_size`, which has
/// to be small enough that no position in padded x overflows: steps along
/// dimensions where only one is made are no longer than what they step over.
ConvAttributes bounded(ConvAttributes a, IntSpan x_size, IntSpan y_size,
                       const Tensor& weight) {
  Dims padded{x_size[1]};
  for (size_t d = 0; d < a.stride.size(); ++d) {
    const int64_t extent = padded_size(x_size[d + 2], a, d);
    if (weight.sizes()[d + 2] == 1) a.dilation[d] = 1;
    if (y_size[d + 2] <= 1)
      a.stride[d] = std::min(a.stride[d], std::max<int64_t>(extent, 1));
    // Kernels round a padded row up to a few elements more.
    padded.push_back(std::max<int64_t>(extent, 1));
    HOTARU_CHECK(!__builtin_add_overflow(padded[d + 1], 16, &padded[d + 1]),
                 "convolution: padding ", shape_text(a.padding),
                 " is too large");
  }
  storage_bytes(padded, itemsize(DType::kComplex128));
  return a;
}

Dims forward_size(const Tensor& input, const Tensor& weight,
                  const ConvAttributes& a) {
  Dims out{input.size(0), weight.size(0)}, padded, kernel;
  bool fits = true;
  for (size_t d = 0; d < a.stride.size(); ++d) {
    padded.push_back(padded_size(input.sizes()[d + 2], a, d));
    kernel.push_back(window_of(weight, a, d));
    fits &= kernel[d] <= padded[d] && weight.sizes()[d + 2] > 0;
    out.push_back((padded[d] - kernel[d]) / a.stride[d] + 1);
  }
  HOTARU_CHECK(fits, "Calculated padded input size per channel: (", by(padded),
               "). Kernel size: (", by(kernel),
               "). Kernel size can't be greater than actual input size");
  return out;
}

Dims transposed_size(const Tensor& input, const Tensor& weight,
                     const ConvAttributes& a, const Dims& output_padding) {
  Dims out{input.size(0), weight.size(1) * a.groups};
  Dims in, spatial;
  bool fits = true;
  for (size_t d = 0; d < a.stride.size(); ++d) {
    HOTARU_CHECK(output_padding[d] < std::max(a.stride[d], a.dilation[d]),
                 "output padding must be smaller than either stride or "
                 "dilation, but got output_padding: ",
                 shape_text(output_padding), " stride: ", shape_text(a.stride),
                 " dilation: ", shape_text(a.dilation));
    in.push_back(input.sizes()[d + 2]);
    int64_t size;
    const bool overflow =
        __builtin_mul_overflow(in[d] - 1, a.stride[d], &size) ||
        __builtin_add_overflow(size, window_of(weight, a, d), &size) ||
        __builtin_sub_overflow(size, padded_size(0, a, d), &size) ||
        __builtin_add_overflow(size, output_padding[d], &size);
    HOTARU_CHECK(!overflow, "convolution: stride ", shape_text(a.stride),
                 " or output_padding ", shape_text(output_padding),
                 " is too large");
    spatial.push_back(size);
    fits &= spatial[d] > 0;
    out.push_back(spatial[d]);
  }
  HOTARU_CHECK(fits, "Given input size per channel: (", by(in),
               "). Calculated output size per channel: (", by(spatial),
               "). Output size is too small");
  return out;
}

}  // namespace

ConvPlan plan_convolution(const Tensor& input, const Tensor& weight,
                          const Tensor& bias, IntSpan stride, IntSpan padding,
                          IntSpan dilation, bool transposed,
                          IntSpan output_padding, int64_t groups) {
  const int64_t dims = weight.dim() - 2;
  HOTARU_CHECK(dims >= 1 && dims <= 3,
               "weight should have at least three dimensions and at most "
               "five, but got weight of size ",
               shape_text(weight.sizes()));
  const ConvAttributes a{
      spatial("stride", stride, dims), spatial("padding", padding, dims),
      spatial("dilation", dilation, dims), groups, allows_bf16(Bf16::kConv)};
  const Dims extra = spatial("output_padding", output_padding, dims);
  check_parameters(a, extra);
  HOTARU_CHECK(input.dim() == weight.dim(), "Expected ", weight.dim(),
               "-dimensional input for ", weight.dim(), "-dimensional weight ",
               shape_text(weight.sizes()), ", but got ", input.dim(),
               "-dimensional input of size ", shape_text(input.sizes()),
               " instead");
  check_channels(input, weight, bias, groups, transposed);
  Dims size;
  if (!transposed) size = forward_size(input, weight, a);
  if (input.size(0) > 0 && input.size(1) > 0) {
    HOTARU_CHECK(input.numel() > 0,
                 "Only zero batch or zero channel inputs are supported, but "
                 "got input shape: ",
                 shape_text(as_planes(input.sizes())));
    check_kernel(input, weight, a.dilation, transposed);
  }
  check_dtypes(input, weight, bias);
  if (!transposed) return {size, bounded(a, input.sizes(), size, weight)};
  size = transposed_size(input, weight, a, extra);
  return {size, bounded(a, size, input.sizes(), weight)};
}

Tensor convolution(const Tensor& input, const Tensor& weight,
                   const Tensor& bias, IntSpan stride, IntSpan padding,
                   IntSpan dilation, bool transposed, IntSpan output_padding,
                   int64_t groups) {
  const auto [size, a] =
      plan_convolution(input, weight, bias, stride, padding, dilation,
                       transposed, output_padding, groups);
  const auto run = transposed ? conv_data : conv_forward;
  return in_format_of(weight, in_format_of(input, run(kConvNode, input, weight,
                                                      bias, size, a)));
}

namespace {

// Runs f on a batched input; an unbatched one gains and loses its batch.
template <class F>
Tensor batched(const char* op, const Tensor& input, int64_t dims, const F& f) {
  HOTARU_CHECK(input.dim() == dims + 1 || input.dim() == dims + 2, "Expected ",
               dims + 1, "D (unbatched) or ", dims + 2, "D (batched) input to ",
               op, ", but got input of size: ", shape_text(input.sizes()));
  if (input.dim() == dims + 2) return f(input);
  return squeeze(f(unsqueeze(input, 0)), 0);
}

template <int N>
constexpr const char* kName = N == 1   ? "conv1d"
                              : N == 2 ? "conv2d"
                                       : "conv3d";
template <int N>
constexpr const char* kTransposedName = N == 1   ? "conv_transpose1d"
                                        : N == 2 ? "conv_transpose2d"
                                                 : "conv_transpose3d";

template <int N>
Tensor conv(const Tensor& input, const Tensor& weight, const Tensor& bias,
            IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups) {
  return batched(kName<N>, input, N, [&](const Tensor& x) {
    return convolution(x, weight, bias, stride, padding, dilation, false,
                       Dims{0}, groups);
  });
}

/// As conv2d and conv3d, told twice how large the kernel is.
template <int N>
Tensor slow_conv(const Tensor& self, const Tensor& weight, IntSpan kernel_size,
                 const Tensor& bias, IntSpan stride, IntSpan padding) {
  const auto check_list = [](const char* name, IntSpan list) {
    HOTARU_CHECK(list.size() == N, N, "D ", name, " expected");
  };
  check_list("kernel_size", kernel_size);
  check_list("stride", stride);
  check_list("padding", padding);
  HOTARU_CHECK(
      self.dim() == N + 2, "Expected ", N + 2,
      "D (batch mode) tensor for input, but got: ", shape_text(self.sizes()));
  HOTARU_CHECK(
      weight.dim() == N + 2 && same(weight.sizes().last(N), kernel_size),
      "expected a weight of ", N + 2, " dimensions that ends in kernel_size ",
      shape_text(kernel_size), ", but got ", shape_text(weight.sizes()));
  return convolution(self, weight, bias, stride, padding, Dims(size_t(N), 1),
                     false, Dims{0}, 1);
}

template <int N>
Tensor conv_transpose(const Tensor& input, const Tensor& weight,
                      const Tensor& bias, IntSpan stride, IntSpan padding,
                      IntSpan output_padding, int64_t groups,
                      IntSpan dilation) {
  return batched(kTransposedName<N>, input, N, [&](const Tensor& x) {
    return convolution(x, weight, bias, stride, padding, dilation, true,
                       output_padding, groups);
  });
}

// padding="same" keeps the size: an odd total puts the extra zero at the end.
Tensor convolution_mode(const Tensor& input, const Tensor& weight,
                        const Tensor& bias, IntSpan stride,
                        const std::string& padding, IntSpan dilation,
                        int64_t groups) {
  HOTARU_CHECK(padding == "same" || padding == "valid",
               "Invalid padding string: '", padding, "'");
  const int64_t dims = weight.dim() - 2;
  if (padding == "valid")
    return convolution(input, weight, bias, stride, Dims{0}, dilation, false,
                       Dims{0}, groups);
  HOTARU_CHECK(dims < 1 || dims > 3 || input.dim() == dims + 2, "Expected ",
               dims + 2, "-dimensional input for ", dims + 2,
               "-dimensional weight", shape_text(weight.sizes()), ", but got ",
               input.dim(), "-dimensional input of size ",
               shape_text(input.sizes()), " instead");
  HOTARU_CHECK(dims >= 1 && dims <= 3 && input.dim() == dims + 2,
               "_convolution_mode: input ", shape_text(input.sizes()),
               " does not fit weight ", shape_text(weight.sizes()));
  for (int64_t s : stride)
    HOTARU_CHECK(s == 1,
                 "padding='same' is not supported for strided convolutions");
  const Dims steps = spatial("dilation", dilation, dims);
  Dims before(size_t(dims), 0), extra(size_t(2 * dims), 0);
  bool uneven = false;
  for (size_t d = 0; d < size_t(dims); ++d) {
    int64_t total;
    HOTARU_CHECK(
        !__builtin_mul_overflow(steps[d], weight.sizes()[d + 2] - 1, &total),
        "convolution: dilation ", shape_text(steps), " is too large");
    before[d] = total / 2;
    // constant_pad_nd lists the last dimension first.
    extra[2 * (size_t(dims) - 1 - d) + 1] = total % 2;
    uneven |= total % 2 != 0;
  }
  static constinit OnceWarning padded{
      "Using padding='same' with even kernel lengths and odd dilation may "
      "require a zero-padded copy of the input be created"};
  if (uneven) padded.give();
  const Tensor x = uneven ? constant_pad_nd(input, extra, 0) : input;
  return convolution(x, weight, bias, stride, before, steps, false, Dims{0},
                     groups);
}

template <int N>
Tensor conv_mode(const Tensor& input, const Tensor& weight, const Tensor& bias,
                 IntSpan stride, const std::string& padding, IntSpan dilation,
                 int64_t groups) {
  return batched(kName<N>, input, N, [&](const Tensor& x) {
    return convolution_mode(x, weight, bias, stride, padding, dilation, groups);
  });
}

/// input [T, B, C], weight [kernel, C, O], bias [O]: along the first dimension.
Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias,
                int64_t pad) {
  HOTARU_CHECK(self.dim() == 3,
               "Input must have 3 dims: time, batch, in_channel");
  HOTARU_CHECK(weight.dim() == 3,
               "Weight tensor must have 3 dims: kernel_width, in_channels, "
               "out_channels.");
  HOTARU_CHECK(bias.dim() == 1, "Bias must be 1-D");
  HOTARU_CHECK(self.size(2) == weight.size(1),
               "Input dim 2 (input channels) is not == dim 1 in the weight "
               "tensor");
  HOTARU_CHECK(weight.size(2) == bias.size(0),
               "Bias size must equal dim 2 in the weight tensor (output "
               "channels).");
  const Tensor out =
      convolution(permute(self, Dims{1, 2, 0}), permute(weight, Dims{2, 1, 0}),
                  bias, Dims{1}, Dims{pad}, Dims{1}, false, Dims{0}, 1);
  return contiguous(permute(out, Dims{2, 0, 1}), MemoryFormat::kContiguous);
}

// As traced archives spell it: flags of back ends that don't exist here.
Tensor convolution_flags(const Tensor& input, const Tensor& weight,
                         const Tensor& bias, IntSpan stride, IntSpan padding,
                         IntSpan dilation, bool transposed,
                         IntSpan output_padding, int64_t groups, bool, bool,
                         bool, bool) {
  return convolution(input, weight, bias, stride, padding, dilation, transposed,
                     output_padding, groups);
}
Tensor convolution_old_flags(const Tensor& input, const Tensor& weight,
                             const Tensor& bias, IntSpan stride,
                             IntSpan padding, IntSpan dilation, bool transposed,
                             IntSpan output_padding, int64_t groups, bool, bool,
                             bool) {
  return convolution(input, weight, bias, stride, padding, dilation, transposed,
                     output_padding, groups);
}

}  // namespace

HOTARU_OP(
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
    "int[] padding, int[] dilation, bool transposed, int[] output_padding, "
    "int groups) -> Tensor",
    convolution);
HOTARU_OP(
    "_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
    "int[] padding, int[] dilation, bool transposed, int[] output_padding, "
    "int groups, bool benchmark, bool deterministic, bool cudnn_enabled, "
    "bool allow_tf32) -> Tensor",
    convolution_flags);
HOTARU_OP(
    "_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, "
    "int[] stride, int[] padding, int[] dilation, bool transposed, "
    "int[] output_padding, int groups, bool benchmark, bool deterministic, "
    "bool cudnn_enabled) -> Tensor",
    convolution_old_flags);
HOTARU_OP(
    "_convolution_mode(Tensor input, Tensor weight, Tensor? bias, "
    "int[] stride, str padding, int[] dilation, int groups) -> Tensor",
    convolution_mode);
HOTARU_OP(
    "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    conv_tbc);
HOTARU_OP(
    "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, "
    "int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor",
    conv<1>);
HOTARU_OP(
    "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
    "int[1] stride=1, str padding=\"valid\", int[1] dilation=1, "
    "int groups=1) -> Tensor",
    conv_mode<1>);
HOTARU_OP(
    "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, "
    "int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
    conv<2>);
HOTARU_OP(
    "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
    "int[2] stride=1, str padding=\"valid\", int[2] dilation=1, "
    "int groups=1) -> Tensor",
    conv_mode<2>);
HOTARU_OP(
    "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, "
    "int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor",
    conv<3>);
// PyTorch's names of its way without libraries.
HOTARU_OP(
    "slow_conv3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? "
    "bias=None, int[3] stride=1, int[3] padding=0) -> Tensor",
    slow_conv<3>);
HOTARU_OP(
    "thnn_conv2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? "
    "bias=None, int[2] stride=1, int[2] padding=0) -> Tensor",
    slow_conv<2>);
HOTARU_OP(
    "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
    "int[3] stride=1, str padding=\"valid\", int[3] dilation=1, "
    "int groups=1) -> Tensor",
    conv_mode<3>);
HOTARU_OP(
    "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, "
    "int[1] stride=1, int[1] padding=0, int[1] output_padding=0, "
    "int groups=1, int[1] dilation=1) -> Tensor",
    conv_transpose<1>);
HOTARU_OP(
    "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, "
    "int[2] stride=1, int[2] padding=0, int[2] output_padding=0, "
    "int groups=1, int[2] dilation=1) -> Tensor",
    conv_transpose<2>);
HOTARU_OP(
    "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, "
    "int[3] stride=1, int[3] padding=0, int[3] output_padding=0, "
    "int groups=1, int[3] dilation=1) -> Tensor",
    conv_transpose<3>);

}  // namespace hotaru
