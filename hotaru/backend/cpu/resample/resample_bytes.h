// Pictures of bytes, interpolated in integers.
#pragma once

#include "hotaru/backend/common/resample/resample.h"

namespace hotaru::cpu {

/// Tells whether bytes are interpolated this way.
bool resamples_bytes(const ResampleAttributes& a);

/// Operator "resample" on bytes, with PyTorch's rounding: along the width and
/// then the height, each by weights of 16 bits, rounded to bytes in between.
void resample_bytes(const ResampleAttributes& a, IntSpan in, IntSpan out,
                    const uint8_t* x, uint8_t* y);

}  // namespace hotaru::cpu
