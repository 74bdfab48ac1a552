// Kernels of HOTARU_MATH, see common/pointwise/formulas.h.
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

HOTARU_MATH(HOTARU_POINTWISE)
