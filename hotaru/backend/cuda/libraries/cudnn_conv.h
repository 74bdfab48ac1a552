// Convolution and its gradients by cuDNN, where it is.
#pragma once

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru::cuda {

enum class ConvKind : uint8_t { kForward, kData, kWeight };

/// Queues a convolution of floating operands, all row-major or all with their
/// channels last, on the launching stream: y of x and w, x of y and w, or w of
/// x and y. False, and nothing was
/// done, where cuDNN is not here, is switched off (torch.backends.cudnn), or
/// has no kernel for it. Nothing is added: biases are the caller's.
bool convolve_by_cudnn(ConvKind kind, const Tensor& x, const Tensor& w,
                       const Tensor& y, const ConvAttributes& attributes);

DeviceLibrary cudnn_report();

}  // namespace hotaru::cuda
