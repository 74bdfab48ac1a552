// Softmax and its gradient with the widest vectors that this processor has.
// Input and output may be the same. Each function exists for float and double.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

#define HOTARU_SOFTMAX(type) \
  /* Contiguous rows of n: y = exp(x - max) / sum, or its logarithm. */ \
  void softmax_rows(const type* x, type* y, int64_t rows, int64_t n); \
  void log_softmax_row(const type* x, type* y, int64_t n); \
  /* `width` neighbouring columns of n elements; strides in elements. */ \
  void softmax_columns(const type* x, int64_t x_stride, type* y, \
                       int64_t y_stride, int64_t n, int64_t width); \
  void log_softmax_columns(const type* x, int64_t x_stride, type* y, \
                           int64_t y_stride, int64_t n, int64_t width); \
  /* One row: dx from the gradient g and the result y. */ \
  void softmax_backward_row(const type* g, const type* y, type* dx, \
                            int64_t n); \
  void log_softmax_backward_row(const type* g, const type* y, type* dx, \
                                int64_t n); \
  /* The same for `width` neighbouring columns of n elements. */ \
  void softmax_backward_columns(const type* g, int64_t g_stride, \
                                const type* y, int64_t y_stride, type* dx, \
                                int64_t dx_stride, int64_t n, int64_t width); \
  void log_softmax_backward_columns( \
      const type* g, int64_t g_stride, const type* y, int64_t y_stride, \
      type* dx, int64_t dx_stride, int64_t n, int64_t width)
HOTARU_SOFTMAX(float);
HOTARU_SOFTMAX(double);
#undef HOTARU_SOFTMAX

}  // namespace hotaru::cpu
