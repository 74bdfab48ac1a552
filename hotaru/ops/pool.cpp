#include "hotaru/ops/pool.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/pool.h"
#include "hotaru/backend/common/resample.h"
#include "hotaru/ops/linear_map.h"
#include "hotaru/ops/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/view.h"

namespace hotaru {
namespace {

constexpr const char* kNumbers[] = {"one", "two", "three"};
constexpr const char* kMaxNodes[] = {"MaxPool1DWithIndicesBackward0",
                                     "MaxPool2DWithIndicesBackward0",
                                     "MaxPool3DWithIndicesBackward0"};
constexpr const char* kAvgNodes[] = {"AvgPool1DBackward0", "AvgPool2DBackward0",
                                     "AvgPool3DBackward0"};
constexpr const char* kAdaptiveAvgNodes[] = {"AdaptiveAvgPool1DBackward0",
                                             "AdaptiveAvgPool2DBackward0",
                                             "AdaptiveAvgPool3DBackward0"};
constexpr const char* kAdaptiveMaxNodes[] = {"AdaptiveMaxPool1DBackward0",
                                             "AdaptiveMaxPool2DBackward0",
                                             "AdaptiveMaxPool3DBackward0"};

Dims spread(const char* op, const char* what, IntSpan values, int64_t dims) {
  HOTARU_CHECK(values.size() == 1 || int64_t(values.size()) == dims, op, dims,
               "d: ", what, " must either be a single int, or a tuple of ",
               kNumbers[dims - 1], " ints");
  return values.size() == 1 ? Dims(size_t(dims), values[0]) : Dims(values);
}

// "1x4x4", as this family's messages print sizes.
std::string by(IntSpan sizes) {
  std::string out;
  for (int64_t s : sizes) {
    if (!out.empty()) out += 'x';
    out += std::to_string(s);
  }
  return out;
}

void check_rank(const Tensor& self, int64_t dims) {
  bool fits = self.dim() == dims + 1 || self.dim() == dims + 2;
  for (int64_t d = self.dim() == dims + 2; fits && d < self.dim(); ++d)
    fits = self.size(d) > 0;
  HOTARU_CHECK(fits, "non-empty ", dims + 1, "D or ", dims + 2,
               "D (batch mode) tensor expected for input");
}

struct Windows {
  Dims kernel, stride, padding, dilation;
  Dims size;  // of the result
};

Windows lay_out(const char* op, const Tensor& self, int64_t dims,
                const PoolWindows& w) {
  Windows out{spread(op, "kernel_size", w.kernel, dims),
              {},
              spread(op, "padding", w.padding, dims),
              spread(op, "dilation", w.dilation, dims),
              Dims(self.sizes())};
  out.stride =
      w.stride.empty() ? out.kernel : spread(op, "stride", w.stride, dims);
  check_rank(self, dims);
  const size_t lead = size_t(self.dim() - dims);
  bool fits = true;
  for (size_t d = 0; d < size_t(dims); ++d) {
    const int64_t k = out.kernel[d], s = out.stride[d], p = out.padding[d];
    const int64_t step = out.dilation[d];
    HOTARU_CHECK(s != 0, "stride should not be zero");
    HOTARU_CHECK(k > 0 && s > 0,
                 "kernel size and stride should be greater "
                 "than zero, but got kernel_size: ",
                 shape_text(out.kernel), " stride: ", shape_text(out.stride));
    HOTARU_CHECK(step > 0,
                 "dilation should be greater than zero, but got "
                 "dilation: ",
                 shape_text(out.dilation));
    HOTARU_CHECK(p >= 0, "pad must be non-negative, but got pad: ", p);
    int64_t reach;
    HOTARU_CHECK(!__builtin_mul_overflow(step, k - 1, &reach) &&
                     reach < (int64_t{1} << 40) && s < (int64_t{1} << 40),
                 op, ": kernel size, stride or dilation is too large");
    HOTARU_CHECK(p <= (reach + 1) / 2,
                 "pad should be at most half of effective kernel size, but "
                 "got pad=",
                 p, ", kernel_size=", k, " and dilation=", step);
    const int64_t in = self.sizes()[lead + d];
    const int64_t room = in + 2 * p - reach - 1 + (w.ceil_mode ? s - 1 : 0);
    int64_t n = room < 0 ? 0 : room / s + 1;
    // The last window must start inside the input or its left padding.
    if (w.ceil_mode && n > 0 && (n - 1) * s >= in + p) --n;
    fits &= n > 0;
    out.size[lead + d] = n;
  }
  const IntSpan in = self.sizes().last(size_t(dims) + 1);
  HOTARU_CHECK(fits, "Given input size: (", by(in),
               "). Calculated output size: (",
               by(IntSpan(out.size).last(size_t(dims) + 1)),
               "). Output size is too small");
  return out;
}

std::tuple<Tensor, Tensor> run_max(const char* node, const Tensor& self,
                                   IntSpan size,
                                   const MaxPoolAttributes& attributes,
                                   bool with_indices) {
  static const Kernel& pool = kernel("max_pool");
  static const Kernel& gather = kernel("plane_gather");
  static const Kernel& scatter = kernel("plane_scatter");
  const bool recorded = autograd::needs_grad(self);
  const Tensor out = allocate(size, self.dtype(), self.device());
  Tensor indices;
  if (with_indices || recorded)
    indices = allocate(size, DType::kInt64, self.device());
  {
    autograd::NoGrad guard;
    const Tensor x = contiguous(self);
    enqueue(pool, {write(out), write(indices), read(x)}, attributes);
  }
  if (recorded)
    autograd::record(node, out, {self}, {indices},
                     [dims = attributes.dims, size = Dims(self.sizes())](
                         autograd::Backward& b, const Tensor& g) -> Tensors {
                       const LinearMap map{"MaxPoolBackwardBackward0",
                                           "MaxPoolBackwardBackward0", &scatter,
                                           &gather};
                       return {apply_linear(map, g, size, PlaneAttributes{dims},
                                            b.saved(0))};
                     });
  return {out, with_indices ? indices : Tensor()};
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool(const Tensor& self, int64_t dims,
                                    const PoolWindows& windows,
                                    bool with_indices) {
  const Windows w = lay_out("max_pool", self, dims, windows);
  return run_max(kMaxNodes[dims - 1], self, w.size,
                 {dims, w.kernel, w.stride, w.padding, w.dilation, false},
                 with_indices);
}

Tensor avg_pool(const Tensor& self, int64_t dims, const PoolWindows& windows,
                bool include_pad, Optional<int64_t> divisor) {
  static const Kernel& forward = kernel("resample");
  static const Kernel& transposed = kernel("resample_transposed");
  HOTARU_CHECK(!divisor || *divisor != 0, "divisor must be not zero");
  const Windows w = lay_out("avg_pool", self, dims, windows);
  ResampleAttributes a;
  a.mode = ResampleMode::kAverage;
  a.dims = dims;
  a.kernel = w.kernel;
  a.stride = w.stride;
  a.padding = w.padding;
  a.include_pad = include_pad;
  a.divisor = divisor.value_or(0);
  const char* node = kAvgNodes[dims - 1];
  return apply_linear({node, node, &forward, &transposed}, self, w.size, a);
}

namespace {

Dims adaptive_size(const char* op, const Tensor& self, IntSpan output_size) {
  const int64_t dims = int64_t(output_size.size());
  HOTARU_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, dims,
               "d(): Expected ", dims + 1, "D or ", dims + 2,
               "D tensor, but got ", shape_text(self.sizes()));
  Dims out(self.sizes());
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t d = self.dim() - dims + i;
    HOTARU_CHECK(self.size(d) > 0, op, dims,
                 "d(): Expected input to have non-zero size for non-batch "
                 "dimensions, but input has sizes ",
                 shape_text(self.sizes()), " with dimension ", d,
                 " being empty");
    HOTARU_CHECK(output_size[size_t(i)] >= 0, op, dims,
                 "d: elements of output_size must be greater than or equal to "
                 "0 but received ",
                 shape_text(output_size));
    out[size_t(d)] = output_size[size_t(i)];
  }
  return out;
}

}  // namespace

Tensor adaptive_avg_pool(const Tensor& self, IntSpan output_size) {
  static const Kernel& forward = kernel("resample");
  static const Kernel& transposed = kernel("resample_transposed");
  const Dims size = adaptive_size("adaptive_avg_pool", self, output_size);
  if (output_size.size() == 2 && output_size[0] == 1 && output_size[1] == 1)
    return mean(self, Dims{-1, -2}, true);
  ResampleAttributes a;
  a.mode = ResampleMode::kAdaptive;
  a.dims = int64_t(output_size.size());
  const char* node = kAdaptiveAvgNodes[a.dims - 1];
  return apply_linear({node, node, &forward, &transposed}, self, size, a);
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self,
                                             IntSpan output_size) {
  const Dims size = adaptive_size("adaptive_max_pool", self, output_size);
  MaxPoolAttributes a;
  a.dims = int64_t(output_size.size());
  a.adaptive = true;
  return run_max(kAdaptiveMaxNodes[a.dims - 1], self, size, a, true);
}

namespace {

// One dimension runs as two, of which the first has size 1.
void check_1d(const char* op, const Tensor& self) {
  HOTARU_CHECK(self.dim() == 2 || self.dim() == 3,
               "Expected 2 to 3 "
               "dimensions, but got ",
               self.dim(),
               "-dimensional tensor for "
               "argument #1 'self' (while checking arguments for ",
               op, ")");
}

Dims pair(const char* op, const char* what, IntSpan values, int64_t first) {
  if (values.empty()) return {};
  HOTARU_CHECK(values.size() == 1, op, "() ", what,
               " must be an int or a list of one int, but got ", values.size(),
               " elements");
  return {first, values[0]};
}

template <int N>
std::tuple<Tensor, Tensor> max_pool_indices(const Tensor& self, IntSpan kernel,
                                            IntSpan stride, IntSpan padding,
                                            IntSpan dilation, bool ceil_mode) {
  return max_pool(self, N, {kernel, stride, padding, dilation, ceil_mode},
                  true);
}
template <int N>
Tensor max_pool_values(const Tensor& self, IntSpan kernel, IntSpan stride,
                       IntSpan padding, IntSpan dilation, bool ceil_mode) {
  return std::get<0>(
      max_pool(self, N, {kernel, stride, padding, dilation, ceil_mode}, false));
}

std::tuple<Tensor, Tensor> max_pool_1d(const Tensor& self, IntSpan kernel,
                                       IntSpan stride, IntSpan padding,
                                       IntSpan dilation, bool ceil_mode,
                                       bool with_indices) {
  constexpr const char* kOp = "max_pool1d";
  HOTARU_CHECK(self.dim() == 2 || self.dim() == 3,
               "max_pool1d: Expected 2D or 3D (batch mode) tensor with "
               "optional 0 dim batch size for input, but got:",
               shape_text(self.sizes()));
  const Dims k = pair(kOp, "kernel_size", kernel, 1);
  const Dims s = pair(kOp, "stride", stride, 1);
  const Dims p = pair(kOp, "padding", padding, 0);
  const Dims d = pair(kOp, "dilation", dilation, 1);
  auto [out, indices] =
      max_pool(unsqueeze(self, -2), 2, {k, s, p, d, ceil_mode}, with_indices);
  return {squeeze(out, -2), indices.defined() ? squeeze(indices, -2) : indices};
}
Tensor max_pool1d(const Tensor& self, IntSpan kernel, IntSpan stride,
                  IntSpan padding, IntSpan dilation, bool ceil_mode) {
  return std::get<0>(
      max_pool_1d(self, kernel, stride, padding, dilation, ceil_mode, false));
}
std::tuple<Tensor, Tensor> max_pool1d_with_indices(
    const Tensor& self, IntSpan kernel, IntSpan stride, IntSpan padding,
    IntSpan dilation, bool ceil_mode) {
  return max_pool_1d(self, kernel, stride, padding, dilation, ceil_mode, true);
}

constexpr int64_t kUnit[] = {1};

template <int N>
Tensor avg_pool_nd(const Tensor& self, IntSpan kernel, IntSpan stride,
                   IntSpan padding, bool ceil_mode, bool include_pad,
                   Optional<int64_t> divisor) {
  return avg_pool(self, N, {kernel, stride, padding, kUnit, ceil_mode},
                  include_pad, divisor);
}
Tensor avg_pool1d(const Tensor& self, IntSpan kernel, IntSpan stride,
                  IntSpan padding, bool ceil_mode, bool include_pad) {
  constexpr const char* kOp = "avg_pool1d";
  check_1d(kOp, self);
  const Dims k = pair(kOp, "kernel_size", kernel, 1);
  const Dims s = pair(kOp, "stride", stride, 1);
  const Dims p = pair(kOp, "padding", padding, 0);
  return squeeze(avg_pool(unsqueeze(self, -2), 2, {k, s, p, kUnit, ceil_mode},
                          include_pad),
                 -2);
}

template <int N>
Dims output_dims(const char* op, IntSpan size) {
  HOTARU_CHECK(size.size() == 1 || size.size() == N, op, N,
               "d: output_size must be ", N, " ints, got ", shape_text(size));
  return size.size() == 1 ? Dims(size_t(N), size[0]) : Dims(size);
}

template <int N>
Tensor adaptive_avg_pool_nd(const Tensor& self, IntSpan size) {
  return adaptive_avg_pool(self, output_dims<N>("adaptive_avg_pool", size));
}
Tensor adaptive_avg_pool1d(const Tensor& self, IntSpan size) {
  check_1d("adaptive_avg_pool1d", self);
  return squeeze(
      adaptive_avg_pool(unsqueeze(self, -2),
                        pair("adaptive_avg_pool1d", "output_size", size, 1)),
      -2);
}
template <int N>
std::tuple<Tensor, Tensor> adaptive_max_pool_nd(const Tensor& self,
                                                IntSpan size) {
  return adaptive_max_pool(self, output_dims<N>("adaptive_max_pool", size));
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self,
                                               IntSpan size) {
  check_1d("adaptive_max_pool1d", self);
  auto [out, indices] = adaptive_max_pool(
      unsqueeze(self, -2), pair("adaptive_max_pool1d", "output_size", size, 1));
  return {squeeze(out, -2), squeeze(indices, -2)};
}

}  // namespace

HOTARU_OP(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], "
    "int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor",
    max_pool1d);
HOTARU_OP(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, "
    "int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
    "bool ceil_mode=False) -> (Tensor, Tensor)",
    max_pool1d_with_indices);
HOTARU_OP(
    "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], "
    "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
    max_pool_values<2>);
HOTARU_OP(
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, "
    "int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
    "bool ceil_mode=False) -> (Tensor, Tensor)",
    max_pool_indices<2>);
HOTARU_OP(
    "max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], "
    "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
    max_pool_values<3>);
HOTARU_OP(
    "max_pool3d_with_indices(Tensor self, int[3] kernel_size, "
    "int[3] stride=[], int[3] padding=0, int[3] dilation=1, "
    "bool ceil_mode=False) -> (Tensor, Tensor)",
    max_pool_indices<3>);
HOTARU_OP(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], "
    "int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) "
    "-> Tensor",
    avg_pool1d);
HOTARU_OP(
    "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], "
    "int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, "
    "int? divisor_override=None) -> Tensor",
    avg_pool_nd<2>);
HOTARU_OP(
    "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], "
    "int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, "
    "int? divisor_override=None) -> Tensor",
    avg_pool_nd<3>);
HOTARU_OP("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
          adaptive_avg_pool1d);
HOTARU_OP("adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
          adaptive_avg_pool_nd<2>);
HOTARU_OP("adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
          adaptive_avg_pool_nd<3>);
HOTARU_OP(
    "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
    adaptive_max_pool1d);
HOTARU_OP(
    "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
    adaptive_max_pool_nd<2>);
HOTARU_OP(
    "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
    adaptive_max_pool_nd<3>);

}  // namespace hotaru
