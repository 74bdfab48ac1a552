#include "hotaru/ops/pool/pool.h"

#include <algorithm>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/backend/common/resample/resample.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/linear_map.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr char kSides[] = "THW";  // time, height, width
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

enum class PoolKind { kMaximum, kAverage };

// One value for every dimension; `rule` is the message's verb.
Dims spread(const char* op, const char* what, const char* rule, IntSpan values,
            int64_t dims) {
  HOTARU_CHECK(values.size() == 1 || int64_t(values.size()) == dims, op, dims,
               "d: ", what, " must ", rule, " a single int, or a tuple of ",
               kNumbers[dims - 1], " ints");
  return values.size() == 1 ? Dims(size_t(dims), values[0]) : Dims(values);
}

// "kH: 1 kW: 2" for the prefix k.
std::string by_axis(const char* prefix, IntSpan values) {
  std::string out;
  const char* axis = kSides + 3 - values.size();
  for (const int64_t value : values) {
    if (!out.empty()) out += ' ';
    out += concat(prefix, *axis++, ": ", value);
  }
  return out;
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

void check_rank(PoolKind kind, const Tensor& self, int64_t dims) {
  const bool average = kind == PoolKind::kAverage;
  if (average && dims == 2) wrap_dim(-3, self.dim());
  const bool rank = self.dim() == dims + 1 || self.dim() == dims + 2;
  HOTARU_CHECK(rank || (average && dims == 2), "non-empty ", dims + 1, "D or ",
               dims + 2, "D (batch mode) tensor expected for input");
}

/// Throws if more than the batch is empty, or the rank was let pass above.
void check_not_empty(PoolKind kind, const Tensor& self, int64_t dims) {
  const bool rank = self.dim() == dims + 1 || self.dim() == dims + 2;
  for (int64_t d = rank ? self.dim() - dims - 1 : 0; d < self.dim(); ++d) {
    HOTARU_CHECK(self.size(d) > 0 || kind == PoolKind::kAverage || dims != 3,
                 "max_pool3d_with_indices_out_cpu_template(): Expected input's "
                 "non-batch dimensions to have positive length, but input has "
                 "a shape of ",
                 shape_text(self.sizes()),
                 " and non-batch dimension 0 has length zero!");
    HOTARU_CHECK(rank && self.size(d) > 0, "Expected ", dims + 1, "D or ",
                 dims + 2,
                 "D (batch mode) tensor with optional 0 dim batch size for "
                 "input, but got:",
                 shape_text(self.sizes()));
  }
}

struct Windows {
  Dims kernel, stride, padding, dilation;
  Dims size;  // of the result
};

Windows lay_out(PoolKind kind, const Tensor& self, int64_t dims,
                const PoolWindows& w) {
  const bool average = kind == PoolKind::kAverage;
  const char* op = average ? "avg_pool" : "max_pool";
  const bool brief = average && dims == 3;
  const char* one = brief ? "be" : "either be";
  const char* none = brief ? "be omitted," : "either be omitted,";
  Windows out{spread(op, "kernel_size", one, w.kernel, dims),
              {},
              spread(op, "padding", one, w.padding, dims),
              spread(op, "dilation", "be either", w.dilation, dims),
              Dims(self.sizes())};
  out.stride = w.stride.empty() ? out.kernel
                                : spread(op, "stride", none, w.stride, dims);
  check_rank(kind, self, dims);
  const size_t lead = size_t(self.dim() - dims);
  for (size_t d = 0; d < size_t(dims); ++d) {
    const int64_t k = out.kernel[d], s = out.stride[d], p = out.padding[d];
    const int64_t step = out.dilation[d];
    HOTARU_CHECK(s != 0, "stride should not be zero");
    HOTARU_CHECK(k > 0, "kernel size should be greater than zero, but got ",
                 by_axis("k", out.kernel));
    HOTARU_CHECK(s > 0, "stride should be greater than zero, but got ",
                 by_axis("d", out.stride));
    HOTARU_CHECK(step > 0, "dilation should be greater than zero, but got ",
                 by_axis("dilation", out.dilation));
    HOTARU_CHECK(p >= 0, "pad must be non-negative, but got pad: ", p);
    int64_t reach;
    HOTARU_CHECK(!__builtin_mul_overflow(step, k - 1, &reach) &&
                     reach < (int64_t{1} << 40) && s < (int64_t{1} << 40),
                 op, ": kernel size, stride or dilation is too large");
    HOTARU_CHECK(p <= (reach + 1) / 2,
                 "pad should be at most half of effective kernel size, but "
                 "got pad=",
                 p, ", kernel_size=", k, " and dilation=", step);
  }
  check_not_empty(kind, self, dims);
  bool fits = true, whole = true;
  for (size_t d = 0; d < size_t(dims); ++d) {
    const int64_t k = out.kernel[d], s = out.stride[d], p = out.padding[d];
    const int64_t reach = out.dilation[d] * (k - 1);
    const int64_t in = self.sizes()[lead + d];
    const int64_t room = in + 2 * p - reach - 1 + (w.ceil_mode ? s - 1 : 0);
    // Rounded down: the message has negative sizes as well.
    int64_t n = (room < 0 ? -((-room + s - 1) / s) : room / s) + 1;
    // The last window must start inside the input or its left padding.
    if (w.ceil_mode && n > 0 && (n - 1) * s >= in + p) --n;
    fits &= n > 0;
    whole &= in >= k;
    out.size[lead + d] = n;
  }
  HOTARU_CHECK(!brief || whole, "input image (",
               by_axis("", self.sizes().last(3)),
               ") smaller than kernel size (", by_axis("k", out.kernel), ")");
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
    record_selection(node, out, self, indices,
                     {attributes.dims, true, attributes});
  return {out, with_indices ? indices : Tensor()};
}

}  // namespace

void record_selection(const char* node, const Tensor& out, const Tensor& self,
                      const Tensor& indices, const PlaneAttributes& planes) {
  static const Kernel& gather = kernel("plane_gather");
  static const Kernel& scatter = kernel("plane_scatter");
  autograd::record(
      node, out, {self}, {indices},
      [planes, size = Dims(self.sizes())](autograd::Backward& b,
                                          const Tensor& g) -> Tensors {
        const LinearMap map{"MaxPoolBackwardBackward0",
                            "MaxPoolBackwardBackward0", &scatter, &gather};
        return {flat_in(b, apply_linear(map, g, size, planes, b.saved(0)))};
      });
}

std::tuple<Tensor, Tensor> max_pool(const Tensor& self, int64_t dims,
                                    const PoolWindows& windows,
                                    bool with_indices) {
  const Windows w = lay_out(PoolKind::kMaximum, self, dims, windows);
  return run_max(kMaxNodes[dims - 1], self, w.size,
                 {dims, w.kernel, w.stride, w.padding, w.dilation, false},
                 with_indices);
}

Tensor avg_pool(const Tensor& self, int64_t dims, const PoolWindows& windows,
                bool include_pad, Optional<int64_t> divisor) {
  static const Kernel& forward = kernel("resample");
  static const Kernel& transposed = kernel("resample_transposed");
  HOTARU_CHECK(!divisor || *divisor != 0, "divisor must be not zero");
  const Windows w = lay_out(PoolKind::kAverage, self, dims, windows);
  const bool pooled =
      self.dtype() == DType::kInt64 ||
      (self.is_floating_point() && (dims < 3 || itemsize(self.dtype()) > 2));
  if (!pooled)
    refuse_dtype(dims == 3 ? "avg_pool3d_out_frame" : "avg_pool2d",
                 self.dtype());
  ResampleAttributes a;
  a.mode = ResampleMode::kAverage;
  a.dims = dims;
  a.kernel = w.kernel;
  a.stride = w.stride;
  a.padding = w.padding;
  a.include_pad = include_pad;
  a.divisor = divisor.value_or(0);
  const char* node = kAvgNodes[dims - 1];
  return apply_linear({node, node, &forward, &transposed, true}, self, w.size,
                      a);
}

void check_not_empty(const char* op, const Tensor& self, int64_t first) {
  for (int64_t d = first; d < self.dim(); ++d)
    HOTARU_CHECK(self.size(d) > 0, op,
                 "(): Expected input to have non-zero size for non-batch "
                 "dimensions, but input has sizes ",
                 shape_text(self.sizes()), " with dimension ", d,
                 " being empty");
}

namespace {

// The result's size; `colon` is where the operator's message has one, `first`
// the first dimension that must not be empty.
Dims adaptive_size(const char* op, const Tensor& self, IntSpan output_size,
                   const char* colon, int64_t first) {
  const int64_t dims = int64_t(output_size.size());
  HOTARU_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, dims,
               "d(): Expected ", dims + 1, "D or ", dims + 2,
               "D tensor, but got", colon, " ", shape_text(self.sizes()));
  Dims out(self.sizes());
  check_not_empty(concat(op, dims, "d").c_str(), self, first);
  for (int64_t i = 0; i < dims; ++i)
    out[size_t(self.dim() - dims + i)] = output_size[size_t(i)];
  return out;
}

bool any_negative(IntSpan sizes) {
  return std::any_of(sizes.begin(), sizes.end(),
                     [](int64_t n) { return n < 0; });
}

// Integers could be averaged and compared; PyTorch does neither here.
void check_pooled(const char* op, const Tensor& self, int64_t dims) {
  check_floating(concat(op, dims, dims == 3 ? "d_cpu" : "d").c_str(), self);
}

bool without_windows(const Dims& size, int64_t dims) {
  return std::any_of(size.end() - dims, size.end(),
                     [](int64_t n) { return n == 0; });
}

/// A result without elements for want of windows: PyTorch gives it, and
/// refuses to go back from it.
Tensor nothing_pooled(const char* node, const std::string& op,
                      const Tensor& self, const Dims& size) {
  const Tensor out = allocate(size, self.dtype(), self.device());
  if (!autograd::needs_grad(self)) return out;
  autograd::record(
      node, out, {self}, {},
      [op, size](autograd::Backward&, const Tensor&) -> Tensors {
        size_t d = 1;
        while (size[d] != 0) ++d;
        fail(op,
             "_backward(): Expected grad_output to have non-zero size for "
             "non-batch dimensions, but grad_output has sizes ",
             shape_text(size), " with dimension ", d, " being empty");
      });
  return out;
}

}  // namespace

Tensor adaptive_avg_pool(const Tensor& self, IntSpan output_size) {
  static const Kernel& forward = kernel("resample");
  static const Kernel& transposed = kernel("resample_transposed");
  constexpr const char* kOp = "adaptive_avg_pool";
  const int64_t dims = int64_t(output_size.size());
  const bool whole = std::all_of(output_size.begin(), output_size.end(),
                                 [](int64_t n) { return n == 1; });
  // A single mean may be one of nothing.
  const Dims size = adaptive_size(kOp, self, output_size, "",
                                  whole       ? self.dim()
                                  : dims == 2 ? self.dim() - dims
                                              : 1);
  const std::string sizes = concat(shape_text(output_size));
  HOTARU_CHECK(!any_negative(output_size), kOp, dims,
               "d: elements of output_size must be greater than or equal to 0 "
               "but received {",
               sizes.substr(1, sizes.size() - 2), "}");
  if (whole)
    return mean(self, dims == 2 ? Dims{-1, -2} : Dims{-1, -2, -3}, true);
  check_pooled(kOp, self, dims);
  ResampleAttributes a;
  a.mode = ResampleMode::kAdaptive;
  a.dims = dims;
  const char* node = kAdaptiveAvgNodes[a.dims - 1];
  if (without_windows(size, dims))
    return nothing_pooled(node, concat(kOp, dims, "d"), self, size);
  return apply_linear({node, node, &forward, &transposed, true}, self, size, a);
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& self,
                                             IntSpan output_size) {
  constexpr const char* kOp = "adaptive_max_pool";
  const Dims size = adaptive_size(kOp, self, output_size, ":", 1);
  HOTARU_CHECK(!any_negative(output_size),
               "Trying to create tensor with negative dimension ",
               *std::min_element(output_size.begin(), output_size.end()), ": ",
               shape_text(size));
  check_pooled(kOp, self, int64_t(output_size.size()));
  MaxPoolAttributes a;
  a.dims = int64_t(output_size.size());
  a.adaptive = true;
  if (without_windows(size, a.dims))
    return {nothing_pooled(kAdaptiveMaxNodes[a.dims - 1],
                           concat(kOp, a.dims, "d"), self, size),
            allocate(size, DType::kInt64, self.device())};
  return run_max(kAdaptiveMaxNodes[a.dims - 1], self, size, a, true);
}

}  // namespace hotaru
