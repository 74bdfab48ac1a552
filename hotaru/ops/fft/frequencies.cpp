// Which frequency stands where.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory_schema.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

TensorOptions options_of(const char* name, const Optional<DType>& dtype,
                         const Optional<Device>& device) {
  TensorOptions out = given_options(dtype, device);
  if (!out.dtype) out.dtype = default_dtype();
  HOTARU_CHECK(is_floating_point(*out.dtype) || is_complex(*out.dtype), name,
               " requires a floating point or complex dtype");
  return out;
}

HOTARU_OP(
    "fft_fftfreq(int n, float d=1.0, " HOTARU_OPTIONS ") -> Tensor",
    +[](int64_t n, double d, HOTARU_OPTION_ARGS) {
      const TensorOptions o = options_of("fftfreq", dtype, device);
      const int64_t positive = n / 2 + n % 2;
      const Tensor k =
          cat({arange(0, positive, 1, o), arange(-(n / 2), 0, 1, o)});
      return k * Scalar(1.0 / (double(n) * d));
    });
HOTARU_OP(
    "fft_rfftfreq(int n, float d=1.0, " HOTARU_OPTIONS ") -> Tensor",
    +[](int64_t n, double d, HOTARU_OPTION_ARGS) {
      const TensorOptions o = options_of("rfftfreq", dtype, device);
      return arange(0, n / 2 + 1, 1, o) * Scalar(1.0 / (double(n) * d));
    });

Tensor shifted(const Tensor& self, const Optional<IntSpan>& dim, bool back) {
  Dims dims, shifts;
  if (dim)
    dims = Dims(*dim);
  else
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  for (const int64_t d : dims) shifts.push_back((self.size(d) + back) / 2);
  return roll(self, shifts, dims);
}

HOTARU_OP(
    "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
    +[](const Tensor& self, const Optional<IntSpan>& dim) {
      return shifted(self, dim, false);
    });
HOTARU_OP(
    "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
    +[](const Tensor& self, const Optional<IntSpan>& dim) {
      return shifted(self, dim, true);
    });

}  // namespace
}  // namespace hotaru
