#include <algorithm>

#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/linear_map.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/determinism.h"

namespace hotaru {
namespace {

constexpr const char* kUnpoolNodes[] = {"MaxUnpool2DBackward0",
                                        "MaxUnpool3DBackward0"};
constexpr const char* kElements[] = {"two elements (height, width)",
                                     "three elements (depth, height, width)"};

void check_list(IntSpan values, int64_t dims, const char* what,
                const char* got) {
  HOTARU_CHECK(int64_t(values.size()) == dims, "There should be exactly ",
               kElements[dims - 2], " in ", what, ", but got", got,
               values.size(), " elements.");
}

void check(const Tensor& self, const Tensor& indices, IntSpan output_size) {
  const int64_t dims = int64_t(output_size.size());
  HOTARU_CHECK(indices.dtype() == DType::kInt64,
               "elements in indices should be type int64",
               dims == 2 ? " but got: " : "",
               dims == 2 ? scalar_type_name(indices.dtype()) : "");
  HOTARU_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2,
               "Input to max_unpooling", dims, "d should be a ", dims + 1,
               "d or ", dims + 2, "d Tensor, but got a tensor with ",
               self.dim(), " dimensions.");
  HOTARU_CHECK(
      same(self.sizes(), indices.sizes()),
      "Expected shape of indices to be same as that of the input "
      "tensor (",
      shape_text(self.sizes()),
      ") but got indices tensor with shape: ", shape_text(indices.sizes()));
  for (int64_t d = 1; d < self.dim(); ++d)
    HOTARU_CHECK(self.size(d) > 0, "max_unpooling", dims,
                 "d_forward_out_cpu(): Expected input to have non-zero size "
                 "for non-batch dimensions, but got ",
                 shape_text(self.sizes()), " with dimension ", d,
                 " being empty.");
  const std::string sizes = concat(shape_text(output_size));
  for (const int64_t n : output_size)
    HOTARU_CHECK(n >= 0, "max_unpooling", dims,
                 "d(): output_size must contain non-negative spatial "
                 "dimensions, but got output_size=(",
                 sizes.substr(1, sizes.size() - 2), ")");
  HOTARU_CHECK_AS(NotImplementedError, is_floating_point(self.dtype()),
                  "\"max_unpool", dims, "d\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
}

}  // namespace

Tensor max_unpool(const Tensor& self, const Tensor& indices,
                  IntSpan output_size) {
  static const Kernel& place = kernel("plane_place");
  static const Kernel& gather = kernel("plane_gather");
  check(self, indices, output_size);
  const int64_t dims = int64_t(output_size.size());
  require_deterministic(dims == 2 ? "max_unpooling2d_forward_out"
                                  : "max_unpooling3d_forward_out");
  Dims size(self.sizes());
  std::copy(output_size.begin(), output_size.end(), size.end() - dims);
  const char* node = kUnpoolNodes[dims - 2];
  return in_format_of(self,
                      apply_linear({node, node, &place, &gather}, self, size,
                                   PlaneAttributes{dims}, contiguous(indices)));
}

namespace {

Tensor max_unpool2d(const Tensor& self, const Tensor& indices,
                    IntSpan output_size) {
  check_list(output_size, 2, "output_size", " ");
  return max_unpool(self, indices, output_size);
}

Tensor max_unpool3d(const Tensor& self, const Tensor& indices,
                    IntSpan output_size, IntSpan stride, IntSpan padding) {
  check_list(output_size, 3, "output_size", " ");
  check_list(stride, 3, "stride", ": ");
  check_list(padding, 3, "padding", ": ");
  HOTARU_CHECK(std::all_of(stride.begin(), stride.end(),
                           [](int64_t s) { return s > 0; }),
               "strides should be greater than zero, but got stride: ",
               shape_text(stride));
  return max_unpool(self, indices, output_size);
}

}  // namespace

HOTARU_OP(
    "max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor",
    max_unpool2d);
HOTARU_OP(
    "max_unpool3d(Tensor self, Tensor indices, int[3] output_size, "
    "int[3] stride, int[3] padding) -> Tensor",
    max_unpool3d);

}  // namespace hotaru
