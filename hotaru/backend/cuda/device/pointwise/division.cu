// Kernels of HOTARU_DIVISION, see common/pointwise/formulas.h.
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

HOTARU_DIVISION(HOTARU_POINTWISE)
