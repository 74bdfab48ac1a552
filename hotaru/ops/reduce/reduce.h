// Sums, products, means and truth over dimensions. `dims` may count from the
// end; an empty list means all of them; keepdim leaves size 1 in their place.
// Gradients: sum, mean, prod, nansum, nanmean and logsumexp.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Integers and bool give int64; `dtype` converts before summing. Floating
/// sums are pairwise; 16-bit types accumulate in float.
Tensor sum(const Tensor& self, Optional<DType> dtype = {});
Tensor sum(const Tensor& self, IntSpan dims, bool keepdim = false,
           Optional<DType> dtype = {});
/// As sum, with NaN counted as zero; not for complex numbers.
Tensor nansum(const Tensor& self, IntSpan dims = {}, bool keepdim = false,
              Optional<DType> dtype = {});
/// Floating and complex only, else Error; NaN for no elements.
Tensor mean(const Tensor& self, Optional<DType> dtype = {});
Tensor mean(const Tensor& self, IntSpan dims, bool keepdim = false,
            Optional<DType> dtype = {});
Tensor nanmean(const Tensor& self, IntSpan dims = {}, bool keepdim = false,
               Optional<DType> dtype = {});
Tensor prod(const Tensor& self, Optional<DType> dtype = {});
Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false,
            Optional<DType> dtype = {});
/// log(sum(exp(self))), computed relative to the largest element. Integers
/// give the default dtype.
Tensor logsumexp(const Tensor& self, IntSpan dims, bool keepdim = false);

/// bool; uint8 for uint8.
Tensor any(const Tensor& self, IntSpan dims = {}, bool keepdim = false);
Tensor all(const Tensor& self, IntSpan dims = {}, bool keepdim = false);
/// int64.
Tensor count_nonzero(const Tensor& self, IntSpan dims = {});

}  // namespace hotaru
