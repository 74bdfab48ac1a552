// Normalised rows with the widest vectors that this processor has. Exists for
// float and double.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// One contiguous row: y = (x - mean) * rstd * weight + bias, where each of the
/// last two, which may be null, has a number for `inner` elements; and its mean
/// and rstd, which is 1 / sqrt(variance + eps).
#define HOTARU_NORM(type) \
  void norm_row(const type* x, type* y, int64_t n, const type* weight, \
                const type* bias, int64_t inner, type eps, type* mean, \
                type* rstd)
HOTARU_NORM(float);
HOTARU_NORM(double);
#undef HOTARU_NORM

#define HOTARU_NORM_GRADIENTS(type) \
  /* The gradient of such a row, where g is y's: to = rstd (g weight - */ \
  /* mean(g weight) - z mean(g weight z)) with z = (x - mean) rstd. */ \
  void norm_row_grad(const type* g, const type* x, type* to, int64_t n, \
                     const type* weight, int64_t inner, type mean, type rstd); \
  /* Adds what a row has for the gradients of weight and bias. */ \
  void add_norm_row(const type* g, const type* x, int64_t n, int64_t inner, \
                    type mean, type rstd, type* weights, type* biases)
HOTARU_NORM_GRADIENTS(float);
HOTARU_NORM_GRADIENTS(double);
#undef HOTARU_NORM_GRADIENTS

}  // namespace hotaru::cpu
