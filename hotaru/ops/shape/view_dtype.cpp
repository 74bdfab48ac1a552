// Views of the same bytes as another dtype.
#include "hotaru/ops/shape/view_dtype.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

Tensor viewed(const Tensor& self, DType dtype, IntSpan sizes, IntSpan strides,
              int64_t offset) {
  Tensor out(
      make_ref<TensorImpl>(self.storage(), dtype, sizes, strides, offset));
  out.impl()->tracks_version = self.impl()->tracks_version;
  return out;
}

}  // namespace

Tensor view(const Tensor& self, DType dtype) {
  if (dtype == self.dtype())
    return viewed(self, dtype, self.sizes(), self.strides(),
                  self.storage_offset());
  const int64_t from = int64_t(itemsize(self.dtype()));
  const int64_t into = int64_t(itemsize(dtype));
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  if (from != into) {
    const auto what = [&] {
      return concat(" to view ", scalar_type_name(self.dtype()), " as ",
                    scalar_type_name(dtype), " (different element sizes)");
    };
    HOTARU_CHECK(self.dim() > 0, "self.dim() cannot be 0", what());
    HOTARU_CHECK(strides.back() == 1, "self.stride(-1) must be 1", what(),
                 ", but got ", strides.back());
    const int64_t ratio = from > into ? from / into : into / from;
    const auto scale = [&](int64_t value) {
      return from > into ? value * ratio : value / ratio;
    };
    if (from < into) {
      HOTARU_CHECK(sizes.back() % ratio == 0,
                   "self.size(-1) must be divisible by ", ratio, what(),
                   ", but got ", sizes.back());
      HOTARU_CHECK(offset % ratio == 0,
                   "self.storage_offset() must be divisible by ", ratio, what(),
                   ", but got ", offset);
      for (size_t d = 0; d + 1 < sizes.size(); ++d)
        HOTARU_CHECK(strides[d] % ratio == 0, "self.stride(", d,
                     ") must be divisible by ", ratio, what(), ", but got ",
                     strides[d]);
    }
    sizes.back() = scale(sizes.back());
    for (size_t d = 0; d + 1 < sizes.size(); ++d)
      strides[d] = scale(strides[d]);
    offset = scale(offset);
  }
  return viewed(self, dtype, sizes, strides, offset);
}

namespace {

HOTARU_OP(
    "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    +[](const Tensor& self, DType dtype) { return view(self, dtype); });

}  // namespace
}  // namespace hotaru
