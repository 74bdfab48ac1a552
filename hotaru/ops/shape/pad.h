// Padding. `pad` lists (before, after) pairs from the last dimension on;
// negative numbers crop.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Fills with a value, on any number of trailing dimensions.
Tensor constant_pad_nd(const Tensor& self, IntSpan pad,
                       const Scalar& value = 0);
/// mode "constant"; or "reflect", "replicate" or "circular" on the last one to
/// three of 2 to 5 dimensions, which then take no value.
Tensor pad(const Tensor& self, IntSpan pad,
           const std::string& mode = "constant",
           const Optional<double>& value = {});

}  // namespace hotaru
