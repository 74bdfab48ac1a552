// Softmax of one contiguous row and its gradient, with the widest vectors that
// this processor has. Input and output may be the same. T: float, double.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

#define HOTARU_SOFTMAX_ROWS(type) \
  /* y = exp(x - max) / sum, and its logarithm. */ \
  void softmax_row(const type* x, type* y, int64_t n); \
  void log_softmax_row(const type* x, type* y, int64_t n); \
  /* dx from the gradient g and the result y. */ \
  void softmax_backward_row(const type* g, const type* y, type* dx, \
                            int64_t n); \
  void log_softmax_backward_row(const type* g, const type* y, type* dx, \
                                int64_t n)
HOTARU_SOFTMAX_ROWS(float);
HOTARU_SOFTMAX_ROWS(double);
#undef HOTARU_SOFTMAX_ROWS

}  // namespace hotaru::cpu
