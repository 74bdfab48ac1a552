// TorchScript: archives as modules, and what their methods take and give.
//
//   torch::jit::script::Module model = torch::jit::load("model.pt");
//   at::Tensor y = model.forward({torch::ones({1, 512})}).toTensor();
#pragma once

#include "ATen/core/op_registration/op_registration.h"
#include "torch/autograd.h"
#include "torch/custom_class.h"
#include "torch/jit.h"
#include "torch/library.h"
#include "torch/standard.h"
#include "torch/types.h"
