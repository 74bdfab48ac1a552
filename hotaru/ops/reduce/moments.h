// Variance, standard deviation and vector norms over dimensions. `dims` empty
// means all; keepdim leaves size 1 in their place. Floating dtypes, and complex
// ones for norms; else an Error.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Squared deviations divided by max(0, n - correction): 1 is Bessel's, 0 the
/// population's.
Tensor var(const Tensor& self, IntSpan dims = {}, double correction = 1,
           bool keepdim = false);
/// Registered as "std", a name that C++ has given away.
Tensor stddev(const Tensor& self, IntSpan dims = {}, double correction = 1,
              bool keepdim = false);
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntSpan dims = {},
                                    double correction = 1,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntSpan dims = {},
                                    double correction = 1,
                                    bool keepdim = false);
/// (sum |x|^order)^(1/order); the largest and smallest magnitude for infinite
/// orders, the number of nonzero elements for 0. Real for complex input.
Tensor linalg_vector_norm(const Tensor& self, const Scalar& order = 2,
                          IntSpan dims = {}, bool keepdim = false,
                          Optional<DType> dtype = {});

}  // namespace hotaru
