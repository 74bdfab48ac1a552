// Pooling over one dimension, and the schemas of the whole family.
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
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
  HOTARU_CHECK(values.size() == 1, op, "() argument '", what,
               "' should contain one int (got ", values.size(), ")");
  return {first, values[0]};
}

/// The result in the input's memory format; a picture of three dimensions
/// without a batch has one, too.
template <int N>
Tensor like_input(const Tensor& self, const Tensor& out) {
  if (N != 3 || self.dim() != 4) return in_format_of(self, out);
  constexpr MemoryFormat kLast = MemoryFormat::kChannelsLast3d;
  const Tensor batch = unsqueeze(self, 0);
  if (self.is_contiguous() ||
      !has_format(batch.sizes(), batch.strides(), kLast))
    return out;
  return squeeze(contiguous(unsqueeze(out, 0), kLast), 0);
}

/// Values and indices in the input's memory format.
std::tuple<Tensor, Tensor> kept(const Tensor& self,
                                std::tuple<Tensor, Tensor> pooled) {
  auto& [values, indices] = pooled;
  return {in_format_of(self, values), in_format_of(self, indices)};
}

template <int N>
std::tuple<Tensor, Tensor> max_pool_indices(const Tensor& self, IntSpan kernel,
                                            IntSpan stride, IntSpan padding,
                                            IntSpan dilation, bool ceil_mode) {
  const auto [values, indices] =
      max_pool(self, N, {kernel, stride, padding, dilation, ceil_mode}, true);
  return {like_input<N>(self, values), like_input<N>(self, indices)};
}
template <int N>
Tensor max_pool_values(const Tensor& self, IntSpan kernel, IntSpan stride,
                       IntSpan padding, IntSpan dilation, bool ceil_mode) {
  return like_input<N>(
      self,
      std::get<0>(max_pool(
          self, N, {kernel, stride, padding, dilation, ceil_mode}, false)));
}

std::tuple<Tensor, Tensor> max_pool_1d(const Tensor& self, IntSpan kernel,
                                       IntSpan stride, IntSpan padding,
                                       IntSpan dilation, bool ceil_mode,
                                       bool with_indices) {
  constexpr const char* kOp = "max_pool1d";
  const bool fits = (self.dim() == 2 || self.dim() == 3) && self.size(-1) > 0 &&
                    self.size(-2) > 0;
  HOTARU_CHECK(fits,
               "max_pool1d: Expected 2D or 3D (batch mode) tensor with "
               "optional 0 dim batch size for input, but got:",
               shape_text(self.sizes()));
  const Dims k = pair(kOp, "kernel_size", kernel, 1);
  const Dims s = pair(kOp, "stride", stride, 1);
  const Dims p = pair(kOp, "padding", padding, 0);
  const Dims d = pair(kOp, "dilation", dilation, 1);
  auto [out, indices] =
      max_pool(unsqueeze(self, -2), 2, {k, s, p, d, ceil_mode}, with_indices);
  const auto flat = [](const Tensor& t) {
    if (!t.defined()) return t;
    const Tensor row = squeeze(t, -2);
    return autograd::needs_grad(t) ? row : without_base(row);
  };
  return {flat(out), flat(indices)};
}
// max_pool1d has messages of its own.
int64_t only(const char* what, const char* kinds, IntSpan values,
             int64_t missing) {
  if (values.empty()) return missing;
  HOTARU_CHECK(values.size() == 1, "max_pool1d() ", what, " must be ", kinds,
               " or tuple of ints of size 1 but got size ", values.size());
  return values[0];
}

Tensor max_pool1d(const Tensor& self, IntSpan kernel, IntSpan stride,
                  IntSpan padding, IntSpan dilation, bool ceil_mode) {
  const int64_t k = only("kernel_size", "an int, list of ints", kernel, 0);
  const int64_t s = only("stride", "None, an int, list of ints,", stride, k);
  const int64_t p = only("padding", "an int, list of ints,", padding, 0);
  const int64_t d = only("dilation", "an int, list of ints", dilation, 1);
  const auto positive = [](const char* what, int64_t value) {
    HOTARU_CHECK(value > 0, "max_pool1d() ", what,
                 " must be greater than zero, but got ", value);
  };
  positive("kernel_size", k);
  positive("stride", s);
  HOTARU_CHECK(p >= 0, "max_pool1d() padding must be non-negative, but got ",
               p);
  HOTARU_CHECK(p <= k / 2,
               "max_pool1d() padding should be at most half of kernel size, "
               "but got padding=",
               p, " and kernel_size=", k);
  positive("dilation", d);
  const int64_t length = self.dim() > 0 ? self.size(-1) : 0;
  int64_t reach, room;
  HOTARU_CHECK(!__builtin_mul_overflow(d, k - 1, &reach) &&
                   !__builtin_sub_overflow(length + 2 * p - 1, reach, &room),
               "max_pool1d: kernel size or dilation is too large");
  // A window that is partly outside counts in ceil mode.
  const bool none = room < 0 && !(ceil_mode && room > -s);
  HOTARU_CHECK(length == 0 || !none,
               "max_pool1d() Invalid computed output size: ",
               ceil_mode ? 1 - -room / s : -(-room - 1) / s);
  check_floating("max_pool1d_impl", self);
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
  const Tensor out =
      avg_pool(self, N, {kernel, stride, padding, kUnit, ceil_mode},
               include_pad, divisor);
  return N == 2 ? in_format_of(self, out) : out;  // as PyTorch
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
Dims output_dims(const char* op, const char* wrong, IntSpan size) {
  HOTARU_CHECK(size.size() == 1 || size.size() == N, op, N, wrong, N);
  return size.size() == 1 ? Dims(size_t(N), size[0]) : Dims(size);
}

template <int N>
Tensor adaptive_avg_pool_nd(const Tensor& self, IntSpan size) {
  return in_format_of(
      self,
      adaptive_avg_pool(self, output_dims<N>("adaptive_avg_pool",
                                             "d: output_size must be ", size)));
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
  const Dims dims =
      output_dims<N>("adaptive_max_pool",
                     "d(): internal error: output_size.size() must be ", size);
  return kept(self, adaptive_max_pool(self, dims));
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self,
                                               IntSpan size) {
  constexpr const char* kOp = "adaptive_max_pool1d";
  check_1d(kOp, self);
  check_not_empty(kOp, self, 1);
  auto [out, indices] =
      adaptive_max_pool(unsqueeze(self, -2), pair(kOp, "output_size", size, 1));
  return {squeeze(out, -2), squeeze(indices, -2)};
}

/// Adds gradients up where the maxima were taken. self is only its shape, so
/// its own gradient is zero.
Tensor max_pool_backward(const Tensor& grad, const Tensor& self, IntSpan,
                         IntSpan, IntSpan, IntSpan, bool,
                         const Tensor& indices) {
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor flat = zeros_like(flatten(self, -2, -1));
    const Tensor sums =
        scatter_add(flat, -1, flatten(indices, -2, -1), flatten(grad, -2, -1));
    out = reshape(sums, self.sizes());
  }
  if (!autograd::needs_grad(grad, self)) return out;
  autograd::record(
      "MaxPool2DWithIndicesBackwardBackward0", out, {grad, self}, {indices},
      [](autograd::Backward& b, const Tensor& g) -> Tensors {
        const Tensor at = b.saved(0);
        Tensors out(2);
        if (b.needs(0))
          out[0] = reshape(gather(flatten(g, -2, -1), -1, flatten(at, -2, -1)),
                           at.sizes());
        if (b.needs(1)) out[1] = zeros_like(g);
        return out;
      });
  return out;
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
    "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] "
    "kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool "
    "ceil_mode, Tensor indices) -> Tensor",
    max_pool_backward);
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
