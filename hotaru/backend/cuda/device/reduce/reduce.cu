// Reductions from the formulas that the CPU has, too: HOTARU_REDUCTIONS, see
// common/reduce/formulas.h.
#include "hotaru/backend/cuda/device/reduce/reducer.h"

namespace hotaru::cuda {

// The list's entries have up to five formulas.
#define HOTARU_REDUCE(kernel, name, Types, ...) \
  HOTARU_REDUCE_1(Types, __VA_ARGS__)
#define HOTARU_REDUCE_1(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_2(Types, __VA_ARGS__))
#define HOTARU_REDUCE_2(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_3(Types, __VA_ARGS__))
#define HOTARU_REDUCE_3(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_4(Types, __VA_ARGS__))
#define HOTARU_REDUCE_4(Types, F, ...) \
  HOTARU_REDUCE_TYPES(Types, F) \
  __VA_OPT__(HOTARU_REDUCE_5(Types, __VA_ARGS__))
#define HOTARU_REDUCE_5(Types, F) HOTARU_REDUCE_TYPES(Types, F)
#define HOTARU_REDUCE_TYPES(Types, F) \
  HOTARU_DEVICE_TYPES_##Types(HOTARU_REDUCE_OF, F)
#define HOTARU_REDUCE_OF(F, T, suffix) \
  HOTARU_REDUCTION(F##_##suffix, T, Reducer<formulas::F, T>)

HOTARU_REDUCTIONS(HOTARU_REDUCE)

}  // namespace hotaru::cuda
