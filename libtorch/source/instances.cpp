// Templates of the library's own layers of one input each
// (HOTARU_TORCH_EXTERN).
#undef HOTARU_TORCH_EXTERN
#define HOTARU_TORCH_EXTERN

#include "source/instances.h"
