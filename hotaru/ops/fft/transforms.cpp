// torch.fft's transforms: which points, of which dtype, divided by what.
#include <string>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/fft/fft.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

using Length = Optional<int64_t>;
using Lengths = Optional<IntSpan>;
using Norm = Optional<std::string>;

FftScale scale_of(const Norm& norm, bool forward) {
  if (!norm || *norm == "backward")
    return forward ? FftScale::kNone : FftScale::kPoints;
  if (*norm == "forward") return forward ? FftScale::kPoints : FftScale::kNone;
  HOTARU_CHECK(*norm == "ortho", "Invalid normalization mode: \"", *norm, "\"");
  return FftScale::kRoot;
}

/// Integers as the default dtype.
Tensor promoted(const Tensor& self, bool complex) {
  DType dtype = self.dtype();
  if (!is_complex(dtype) && !is_floating_point(dtype)) dtype = default_dtype();
  HOTARU_CHECK(dtype != DType::kFloat16 && dtype != DType::kBFloat16,
               "Unsupported dtype ", scalar_type_name(dtype));
  return to(self, complex ? to_complex(dtype) : dtype);
}

/// With so many points along dim: cut, or zeros behind.
Tensor with_points(const Tensor& self, int64_t dim, int64_t n) {
  const int64_t had = self.size(dim);
  if (had == n) return self;
  if (had > n) return narrow(self, dim, 0, n);
  Dims pad(size_t(2 * (self.dim() - dim)), 0);
  pad.back() = n - had;
  return constant_pad_nd(self, pad);
}

void check_points(int64_t n) {
  HOTARU_CHECK(n >= 1, "Invalid number of data points (", n, ") specified");
}

void check_real(const char* name, const Tensor& self, const char* what) {
  HOTARU_CHECK(!self.is_complex(), name, " expects a ", what,
               " input tensor, but got ", scalar_type_name(self.dtype()));
}

/// All points of a transform; of real numbers half of them are conjugates, and
/// the transform back is the conjugate of the one forward.
Tensor transformed(const Tensor& x, IntSpan dims, FftScale scale,
                   bool forward) {
  if (x.is_complex() || dims.empty())
    return fft_c2c(to(x, to_complex(x.dtype())), dims, scale, forward);
  const Tensor out = fft_r2c(x, dims, scale, false);
  return forward ? out : conj(out);
}

// --- one dimension -----------------------------------------------------------

Tensor from_any(const Tensor& self, const Length& n, int64_t dim,
                const Norm& norm, bool forward) {
  const Tensor x = promoted(self, false);
  const int64_t d = wrap_dim(dim, x.dim(), false);
  const int64_t points = n.value_or(x.size(d));
  check_points(points);
  return transformed(with_points(x, d, points), Dims{d},
                     scale_of(norm, forward), forward);
}

Tensor from_real(const char* name, const Tensor& self, const Length& n,
                 int64_t dim, const Norm& norm, bool forward) {
  check_real(name, self, "real");
  const Tensor x = promoted(self, false);
  const int64_t d = wrap_dim(dim, x.dim(), false);
  const int64_t points = n.value_or(x.size(d));
  check_points(points);
  const Tensor out = fft_r2c(with_points(x, d, points), Dims{d},
                             scale_of(norm, forward), true);
  return forward ? out : conj(out);
}

Tensor to_real_line(const Tensor& self, const Length& n, int64_t dim,
                    const Norm& norm, bool forward) {
  const Tensor x = promoted(self, true);
  const int64_t d = wrap_dim(dim, x.dim(), false);
  const int64_t points = n.value_or(2 * (x.size(d) - 1));
  check_points(points);
  const Tensor half = with_points(x, d, points / 2 + 1);
  return fft_c2r(forward ? conj(half) : half, Dims{d}, scale_of(norm, forward),
                 points);
}

#define HOTARU_FFT_LINE(name, ...) \
  HOTARU_OP( \
      "fft_" #name \
      "(Tensor self, int? n=None, int dim=-1, str? norm=None) -> " \
      "Tensor", \
      +[](const Tensor& self, const Length& n, int64_t dim, \
          const Norm& norm) { return __VA_ARGS__; })

HOTARU_FFT_LINE(fft, from_any(self, n, dim, norm, true));
HOTARU_FFT_LINE(ifft, from_any(self, n, dim, norm, false));
HOTARU_FFT_LINE(rfft, from_real("rfft", self, n, dim, norm, true));
HOTARU_FFT_LINE(ihfft, from_real("ihfft", self, n, dim, norm, false));
HOTARU_FFT_LINE(irfft, to_real_line(self, n, dim, norm, false));
HOTARU_FFT_LINE(hfft, to_real_line(self, n, dim, norm, true));

// --- several dimensions ------------------------------------------------------

struct Extent {
  Dims dims, points;
};

Extent extent_of(const Tensor& self, const Lengths& s, const Lengths& dim) {
  Extent out;
  const int64_t rank = self.dim();
  std::vector<bool> seen(size_t(rank) + 1);
  if (dim)
    for (const int64_t d : *dim) {
      const int64_t at = wrap_dim(d, rank, false);
      HOTARU_CHECK(!seen[size_t(at)], "FFT dims must be unique");
      seen[size_t(at)] = true;
      out.dims.push_back(at);
    }
  if (s) {
    const auto count = int64_t(s->size());
    HOTARU_CHECK(!dim || dim->size() == s->size(),
                 "When given, dim and shape arguments must have the same "
                 "length");
    HOTARU_CHECK(count <= rank, "Got shape with ", count,
                 " values but input tensor only has ", rank, " dimensions.");
    for (int64_t d = rank - count; !dim && d < rank; ++d) out.dims.push_back(d);
  } else if (!dim) {
    for (int64_t d = 0; d < rank; ++d) out.dims.push_back(d);
  }
  for (size_t i = 0; i < out.dims.size(); ++i) {
    const bool given = s && (*s)[i] != -1;
    out.points.push_back(given ? (*s)[i] : self.size(out.dims[i]));
    check_points(out.points.back());
  }
  return out;
}

Tensor resized(Tensor self, const Extent& extent) {
  for (size_t i = 0; i < extent.dims.size(); ++i)
    self = with_points(self, extent.dims[i], extent.points[i]);
  return self;
}

void check_axes(const char* name, const Extent& extent) {
  HOTARU_CHECK(!extent.dims.empty(), name, " must transform at least one axis");
}

Tensor from_any_n(const Tensor& self, const Lengths& s, const Lengths& dim,
                  const Norm& norm, bool forward) {
  const Extent extent = extent_of(self, s, dim);
  const Tensor x = promoted(self, false);
  return transformed(resized(x, extent), extent.dims, scale_of(norm, forward),
                     forward);
}

Tensor from_real_n(const char* name, const Tensor& self, const Lengths& s,
                   const Lengths& dim, const Norm& norm, bool forward) {
  if (forward) check_real(name, self, "real-valued");
  const Extent extent = extent_of(self, s, dim);
  check_axes(name, extent);
  const Tensor x = promoted(self, false);
  const Tensor out =
      fft_r2c(resized(x, extent), extent.dims, scale_of(norm, forward), true);
  return forward ? out : conj(out);
}

Tensor to_real_n(const char* name, const Tensor& self, const Lengths& s,
                 const Lengths& dim, const Norm& norm, bool forward) {
  Extent extent = extent_of(self, s, dim);
  check_axes(name, extent);
  const bool given = s && s->back() != -1;
  const int64_t last =
      given ? s->back() : 2 * (self.size(extent.dims.back()) - 1);
  check_points(last);
  extent.points.back() = last / 2 + 1;
  const Tensor x = resized(promoted(self, true), extent);
  return fft_c2r(forward ? conj(x) : x, extent.dims, scale_of(norm, forward),
                 last);
}

#define HOTARU_FFT_PLANE(name, ...) \
  HOTARU_OP( \
      "fft_" #name \
      "2(Tensor self, int[1]? s=None, int[1] dim=[-2, " \
      "-1], str? norm=None) -> Tensor", \
      +[](const Tensor& self, const Lengths& s, IntSpan given, \
          const Norm& norm) { \
        const Lengths dim(given); \
        return __VA_ARGS__; \
      }); \
  HOTARU_OP( \
      "fft_" #name \
      "n(Tensor self, int[1]? s=None, int[1]? dim=None, " \
      "str? norm=None) -> Tensor", \
      +[](const Tensor& self, const Lengths& s, const Lengths& dim, \
          const Norm& norm) { return __VA_ARGS__; })

HOTARU_FFT_PLANE(fft, from_any_n(self, s, dim, norm, true));
HOTARU_FFT_PLANE(ifft, from_any_n(self, s, dim, norm, false));
HOTARU_FFT_PLANE(rfft, from_real_n("rfftn", self, s, dim, norm, true));
HOTARU_FFT_PLANE(ihfft, from_real_n("ihfftn", self, s, dim, norm, false));
HOTARU_FFT_PLANE(irfft, to_real_n("irfftn", self, s, dim, norm, false));
HOTARU_FFT_PLANE(hfft, to_real_n("hfftn", self, s, dim, norm, true));

}  // namespace
}  // namespace hotaru
