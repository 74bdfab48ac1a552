#include "hotaru/ops/reduce/reduce_dims.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

Dims reduced_dims(const Tensor& self, IntSpan dims) {
  Dims out = wrap_dims(dims, self.dim());
  std::sort(out.begin(), out.end());
  return out;
}

Dims kept_sizes(const Tensor& self, IntSpan dims) {
  Dims out(self.sizes());
  for (int64_t d : dims) out[size_t(d)] = 1;
  return out;
}

Dims without_dims(IntSpan sizes, IntSpan dims) {
  Dims out(sizes);
  for (size_t i = dims.size(); i-- > 0;) out.erase(size_t(dims[i]));
  return out;
}

void drop_dims(const Tensor& result, IntSpan dims) {
  const Dims sizes = without_dims(result.sizes(), dims);
  result.impl()->set_geometry(sizes, contiguous_strides(sizes),
                              result.storage_offset());
}

int64_t reduced_numel(const Tensor& self, IntSpan dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= self.sizes()[size_t(d)];
  return n;
}

Tensor restore_dims(const Tensor& reduced, IntSpan dims, bool keepdim) {
  if (keepdim) return reduced;
  Tensor out = reduced;
  for (int64_t d : dims) out = unsqueeze(out, d);
  return out;
}

void check_nonempty_dim(const char* op, const Tensor& self, int64_t dim) {
  HOTARU_CHECK_AS(IndexError, self.dim() == 0 || self.size(dim) != 0, op,
                  "(): Expected reduction dim ", dim,
                  " to have non-zero size.");
}

}  // namespace hotaru
