// Guards for kernels of derivatives, which call their operator again.
#pragma once

#include "hotaru/ops/own/keys.h"

namespace at {

/// Inside, kernels for Autograd keys are left out and nothing is recorded.
/// Gradients are disabled for it, which PyTorch leaves as they are.
struct AutoDispatchBelowAutograd {
  AutoDispatchBelowAutograd() : skip_({true, false}) {}

 private:
  hotaru::own::SkipScope skip_;
};

/// The same, and kernels for ADInplaceOrView.
struct AutoDispatchBelowADInplaceOrView {
  AutoDispatchBelowADInplaceOrView() : skip_({true, true}) {}

 private:
  hotaru::own::SkipScope skip_;
};

/// PyTorch's older names.
using AutoNonVariableTypeMode = AutoDispatchBelowADInplaceOrView;

}  // namespace at
