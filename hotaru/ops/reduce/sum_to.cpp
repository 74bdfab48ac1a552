// The adjoint of broadcasting.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {

Tensor sum_to(const Tensor& grad, IntSpan size) {
  if (same(grad.sizes(), size)) return grad;
  const int64_t lead = grad.dim() - int64_t(size.size());
  Dims dims;
  for (int64_t d = 0; d < grad.dim(); ++d)
    if (d < lead || (size[size_t(d - lead)] == 1 && grad.size(d) != 1))
      dims.push_back(d);
  const Tensor summed = dims.empty() ? grad : sum(grad, dims, true);
  return lead > 0 ? view(summed, size) : summed;
}

HOTARU_OP(
    "sum_to_size(Tensor self, SymInt[] size) -> Tensor",
    +[](const Tensor& self, IntSpan size) {
      const size_t n = size.size();
      bool fits = n <= size_t(self.dim());
      for (size_t i = 1; fits && i <= n; ++i)
        fits = size[n - i] == 1 || size[n - i] == self.size(-int64_t(i));
      HOTARU_CHECK(fits, "size {", shape_text(size),
                   "} is not expandable to size {", shape_text(self.sizes()),
                   "}.");
      return n == 0 ? sum(self) : sum_to(self, size);
    });

}  // namespace hotaru
