// Kernels of HOTARU_ARITHMETIC, see common/pointwise/formulas.h.
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

HOTARU_ARITHMETIC(HOTARU_POINTWISE_ROWS)
