// Kernels of HOTARU_ACTIVATIONS, see common/pointwise/formulas.h.
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

HOTARU_ACTIVATIONS(HOTARU_POINTWISE)
