// Kernels of HOTARU_QUOTIENTS and HOTARU_DIVISION, see
// common/pointwise/formulas.h.
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

HOTARU_QUOTIENTS(HOTARU_POINTWISE)
HOTARU_DIVISION(HOTARU_POINTWISE)
