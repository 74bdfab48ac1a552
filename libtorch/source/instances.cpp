// Templates of the library's own modules and optimizers (HOTARU_TORCH_EXTERN).
#define HOTARU_TORCH_EXTERN

#include "torch/nn.h"
#include "torch/optim.h"
