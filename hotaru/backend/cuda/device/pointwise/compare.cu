// Kernels of HOTARU_COMPARISONS, see common/pointwise/formulas.h.
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

HOTARU_COMPARISONS(HOTARU_POINTWISE)
