// Templates of the library's own optimizers (HOTARU_TORCH_EXTERN).
#include "torch/types.h"

#undef HOTARU_TORCH_EXTERN
#define HOTARU_TORCH_EXTERN

#include "torch/optim.h"
