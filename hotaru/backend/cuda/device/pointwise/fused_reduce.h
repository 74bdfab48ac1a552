// Code that texts of reductions are written with whose elements are computed as
// they are reduced; see fused/reduce_text.h.
#pragma once

#include "hotaru/backend/cuda/device/pointwise/fused.h"
#include "hotaru/backend/cuda/device/reduce/reducer.h"
