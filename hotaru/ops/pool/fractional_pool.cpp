#include <algorithm>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr const char* kFractionalNodes[] = {"FractionalMaxPool2DBackward0",
                                            "FractionalMaxPool3DBackward0"};
constexpr const char* kFractionalSides[] = {"time", "height", "width"};

/// Rank, sizes and dtype of self.
void check_input(const Tensor& self, IntSpan kernel, IntSpan output_size) {
  const int64_t dims = int64_t(kernel.size());
  const char* out = dims == 3 ? "_out" : "";
  HOTARU_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2,
               "fractional_max_pool", dims, "d(): Expected ", dims + 1, "D or ",
               dims + 2, "D tensor, but got: ", shape_text(self.sizes()));
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); ++d)
    HOTARU_CHECK(self.size(d) > 0, "fractional_max_pool", dims,
                 "d(): Expected input to have non-zero size for non-batch "
                 "dimensions, but got",
                 shape_text(self.sizes()), " with dimension ", d,
                 " being empty.");
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t k = kernel[size_t(i)], n = output_size[size_t(i)];
    const int64_t in = self.size(self.dim() - dims + i);
    const char* side = kFractionalSides[3 - dims + i];
    HOTARU_CHECK(k > 0, "fractional_max_pool", dims,
                 "d(): kernel_size must be greater than zero, but got ", k);
    HOTARU_CHECK(n >= 0, "fractional_max_pool", dims,
                 "d(): output_size must be non-negative, but got ", n);
    // PyTorch refuses windows that fit exactly in three dimensions.
    const bool fits = n <= in && k <= in && n + k - 1 <= in - (dims == 3);
    HOTARU_CHECK(fits, "fractional_max_pool", dims, "d", out, "(): pool ", side,
                 " ", k, " too large relative to input ", side, " ", in);
  }
  HOTARU_CHECK_AS(NotImplementedError, is_floating_point(self.dtype()),
                  "\"fractional_max_pool", dims,
                  "d_out_frame\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
}

void check_samples(const Tensor& self, const Tensor& samples, int64_t dims) {
  const bool batched = self.dim() == dims + 2;
  HOTARU_CHECK(samples.dtype() == self.dtype(),
               "Expect _random_samples to have the same dtype as input");
  HOTARU_CHECK(samples.dim() == 3,
               "Expect _random_samples to have 3 dimensions, got ",
               samples.dim());
  HOTARU_CHECK(samples.size(0) >= (batched ? self.size(0) : 1),
               "Expect _random_samples.size(0) no less then input batch size.");
  HOTARU_CHECK(samples.size(1) == self.size(batched ? 1 : 0),
               "Expect _random_samples.size(1) equals to input channel size.");
  HOTARU_CHECK(samples.size(2) == dims,
               "Expect _random_samples.size(2) equals to ", dims, "; got ",
               samples.size(2), ".");
}

template <int N>
Dims each(const char* what, IntSpan values) {
  HOTARU_CHECK(values.size() == 1 || values.size() == N, "fractional_max_pool",
               N, "d: ", what, " must either be a single Int or tuple of ",
               N == 3 ? "three " : "", "Ints");
  return values.size() == 1 ? Dims(size_t(N), values[0]) : Dims(values);
}

template <int N>
std::tuple<Tensor, Tensor> fractional_max_pool_nd(const Tensor& self,
                                                  IntSpan kernel,
                                                  IntSpan output_size,
                                                  const Tensor& samples) {
  return fractional_max_pool(self, each<N>("kernel_size", kernel),
                             each<N>("output_size", output_size), samples);
}

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool(const Tensor& self,
                                               IntSpan kernel,
                                               IntSpan output_size,
                                               const Tensor& samples) {
  static const Kernel& pool = hotaru::kernel("fractional_max_pool");
  const int64_t dims = int64_t(kernel.size());
  check_input(self, kernel, output_size);
  check_samples(self, samples, dims);
  Dims size(self.sizes());
  std::copy(output_size.begin(), output_size.end(), size.end() - dims);
  const Tensor out = allocate(size, self.dtype(), self.device());
  const Tensor indices = allocate(size, DType::kInt64, self.device());
  {
    autograd::NoGrad guard;
    const Tensor x = contiguous(self), places = contiguous(samples);
    enqueue(pool, {write(out), write(indices), read(x), read(places)},
            FractionalPoolAttributes{dims, Dims(kernel)});
  }
  if (autograd::needs_grad(self))
    record_selection(kFractionalNodes[dims - 2], out, self, indices, {dims});
  return {out, indices};
}

HOTARU_OP(
    "fractional_max_pool2d(Tensor self, int[2] kernel_size, "
    "int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)",
    fractional_max_pool_nd<2>);
HOTARU_OP(
    "fractional_max_pool3d(Tensor self, int[3] kernel_size, "
    "int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)",
    fractional_max_pool_nd<3>);

}  // namespace hotaru
