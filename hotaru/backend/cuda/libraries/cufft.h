// Fourier transforms by cuFFT, where it is: those for which our own kernel
// would go over the memory several times.
#pragma once

#include "hotaru/backend/cuda/fft/plan.h"
#include "hotaru/core/dtype.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru::cuda {

/// Queues a transform of lines without columns on the launching stream,
/// computed in `real` and its complex numbers; the source is left as it is
/// (unless it is the target). False, and nothing was done, where cuFFT is not
/// here, has no plan for it, or lines lie in an order that it cannot be told.
bool transform_by_cufft(const fft::Lines& l, DType real);

/// Plans that are kept for a device; see Accelerator.
FftPlans fft_plans(int device);
void limit_fft_plans(int device, int64_t most);

DeviceLibrary cufft_report();

}  // namespace hotaru::cuda
