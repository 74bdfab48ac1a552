#include "hotaru/ops/fft/fft.h"

#include <cmath>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/fft/fft.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;

double factor_of(FftScale scale, double points) {
  switch (scale) {
    case FftScale::kRoot:
      return 1 / std::sqrt(points);
    case FftScale::kPoints:
      return 1 / points;
    default:
      return 1;
  }
}

Dims wrapped(const Tensor& self, IntSpan dims) {
  Dims out;
  std::vector<bool> seen(size_t(self.dim()) + 1);
  for (const int64_t dim : dims) {
    const int64_t at = wrap_dim(dim, self.dim(), false);
    check_once(seen[size_t(at)], at);
    seen[size_t(at)] = true;
    HOTARU_CHECK(self.size(at) > 0, "Invalid number of data points (",
                 self.size(at), ") specified");
    out.push_back(at);
  }
  return out;
}

const Kernel& lines() {
  static const Kernel& run = kernel("fft");
  return run;
}

/// Over dims but the last `skip`, from `from` into `to` and there on.
void run_complex(const Tensor& to, const Tensor& from, IntSpan dims,
                 bool forward, double scale) {
  const Tensor* in = &from;
  for (size_t i = dims.size(); i-- > 0; in = &to) {
    FftAttributes a{FftKind::kComplex, dims[i], to.size(dims[i]), forward,
                    i == 0 ? scale : 1};
    if (in == &to)
      enqueue(lines(), {update(to)}, a);
    else
      enqueue(lines(), {write(to), read(*in)}, a);
  }
}

void check_scale(FftScale scale) {
  HOTARU_CHECK(scale >= FftScale::kNone && scale <= FftScale::kPoints,
               "Unsupported normalization type: ", int64_t(scale));
}

Tensor padded_back(const Tensor& g, int64_t dim, int64_t n) {
  Dims pad(size_t(2 * (g.dim() - dim)), 0);
  pad.back() = n - g.size(dim);
  return constant_pad_nd(g, pad);
}

}  // namespace

Tensor fft_c2c(const Tensor& self, IntSpan dims, FftScale scale, bool forward) {
  HOTARU_CHECK(self.is_complex(), "Only supports complex dtypes, but found: ",
               scalar_type_name(self.dtype()));
  check_scale(scale);
  if (dims.empty()) return clone(self);
  const Dims over = wrapped(self, dims);
  double points = 1;
  for (const int64_t d : over) points *= double(self.size(d));
  const Tensor out = allocate(self.sizes(), self.dtype(), self.device());
  run_complex(out, self, over, forward, factor_of(scale, points));
  if (autograd::needs_grad(self))
    autograd::record(
        "FftC2CBackward0", out, {self}, {},
        [over, scale, forward](Backward&, const Tensor& g) -> Tensors {
          return {fft_c2c(g, over, scale, !forward)};
        });
  return out;
}

Tensor fft_r2c(const Tensor& self, IntSpan dims, FftScale scale,
               bool onesided) {
  HOTARU_CHECK(is_floating_point(self.dtype()),
               "Only supports floating-point dtypes, but found: ",
               scalar_type_name(self.dtype()));
  HOTARU_CHECK(
      self.dtype() == DType::kFloat32 || self.dtype() == DType::kFloat64,
      "Unsupported dtype ", scalar_type_name(self.dtype()));
  HOTARU_CHECK(!dims.empty(), "rfftn must transform at least one axis");
  check_scale(scale);
  const Dims over = wrapped(self, dims);
  const int64_t last = over.back(), n = self.size(last);
  double points = 1;
  for (const int64_t d : over) points *= double(self.size(d));
  const double factor = factor_of(scale, points);
  Dims sizes(self.sizes());
  if (onesided) sizes[size_t(last)] = n / 2 + 1;
  const Tensor out = allocate(sizes, to_complex(self.dtype()), self.device());
  const Dims rest(IntSpan(over).subspan(0, over.size() - 1));
  const FftAttributes a{FftKind::kFromReal, last, n, true,
                        rest.empty() ? factor : 1};
  enqueue(lines(), {write(out), read(self)}, a);
  run_complex(out, out, rest, true, factor);
  if (autograd::needs_grad(self))
    autograd::record(
        "FftR2CBackward0", out, {self}, {},
        [over, scale, last, n](Backward&, const Tensor& g) -> Tensors {
          const bool whole = g.size(last) == n;
          const Tensor all = whole ? g : padded_back(g, last, n);
          return {real(fft_c2c(all, over, scale, false))};
        });
  return out;
}

Tensor fft_c2r(const Tensor& self, IntSpan dims, FftScale scale,
               int64_t last_size) {
  HOTARU_CHECK(self.is_complex(), "Only supports complex dtypes, but found: ",
               scalar_type_name(self.dtype()));
  HOTARU_CHECK(!dims.empty(), "irfftn must transform at least one axis");
  check_scale(scale);
  const Dims over = wrapped(self, dims);
  const int64_t last = over.back();
  HOTARU_CHECK(last_size > 0 && last_size / 2 + 1 <= self.size(last),
               "Invalid number of data points (", last_size, ") specified");
  const Dims rest(IntSpan(over).subspan(0, over.size() - 1));
  double points = double(last_size);
  for (const int64_t d : rest) points *= double(self.size(d));
  Tensor from = self;
  if (!rest.empty()) {
    from = allocate(self.sizes(), self.dtype(), self.device());
    run_complex(from, self, rest, false, 1);
  }
  Dims sizes(self.sizes());
  sizes[size_t(last)] = last_size;
  const DType real_dtype = to_real(self.dtype());
  const Tensor out = allocate(sizes, real_dtype, self.device());
  const FftAttributes a{FftKind::kToReal, last, last_size, false,
                        factor_of(scale, points)};
  enqueue(lines(), {write(out), read(from)}, a);
  if (autograd::needs_grad(self))
    autograd::record(
        "FftC2RBackward0", out, {self}, {},
        [over, scale, last, had = self.size(last)](Backward&,
                                                   const Tensor& g) -> Tensors {
          // All but the first, and the middle of an even length, stand for
          // their conjugates, too.
          const Tensor half = fft_r2c(g, over, scale, true);
          const int64_t n = half.size(last), twice = g.size(last) - n;
          const Tensor out = cat({narrow(half, last, 0, 1),
                                  narrow(half, last, 1, twice) * Scalar(2),
                                  narrow(half, last, 1 + twice, n - 1 - twice)},
                                 last);
          return {had > n ? padded_back(out, last, had) : out};
        });
  return out;
}

HOTARU_OP(
    "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> "
    "Tensor",
    +[](const Tensor& self, IntSpan dims, int64_t scale, bool forward) {
      return fft_c2c(self, dims, FftScale(scale), forward);
    });
HOTARU_OP(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> "
    "Tensor",
    +[](const Tensor& self, IntSpan dims, int64_t scale, bool onesided) {
      return fft_r2c(self, dims, FftScale(scale), onesided);
    });
HOTARU_OP(
    "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) "
    "-> Tensor",
    +[](const Tensor& self, IntSpan dims, int64_t scale, int64_t last) {
      return fft_c2r(self, dims, FftScale(scale), last);
    });

}  // namespace hotaru
