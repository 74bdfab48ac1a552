// The parts of attention of one token that read keys and values: each row once,
// in order. Chosen at run time by the processor.
#pragma once

#include <cstdint>

#include "hotaru/core/half.h"

namespace hotaru::cpu {

#define HOTARU_TOKEN_ROWS(type) \
  /* scores[t] = sum of query[i] * keys[t * stride + i], for t < count, i < n. \
   */ \
  void token_scores(const float* query, const type* keys, int64_t stride, \
                    int64_t count, int64_t n, float* scores); \
  /* out[i] += sum over t of weights[t] * values[t * stride + i]. */ \
  void token_values(const float* weights, const type* values, int64_t stride, \
                    int64_t count, int64_t n, float* out)
HOTARU_TOKEN_ROWS(float);
HOTARU_TOKEN_ROWS(Half);
HOTARU_TOKEN_ROWS(BFloat16);
#undef HOTARU_TOKEN_ROWS

}  // namespace hotaru::cpu
