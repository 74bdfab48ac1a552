// Kernels of HOTARU_LIBRARY, see common/pointwise/formulas.h.
#include "hotaru/backend/cuda/device/pointwise/pointwise.h"

HOTARU_LIBRARY(HOTARU_POINTWISE)
