// Templates of the library's modules but those of instances.cpp.
#include "source/instances.h"

#undef HOTARU_TORCH_EXTERN
#define HOTARU_TORCH_EXTERN

#include "torch/nn.h"
