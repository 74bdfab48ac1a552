// Layers of one input each: half of the modules' templates, which
// instances.cpp compiles. The other half is module_instances.cpp's, and those
// of optimizers are in optim_instances.cpp.
#pragma once

#include "torch/nn/modules/activation.h"
#include "torch/nn/modules/conv.h"
#include "torch/nn/modules/dropout.h"
#include "torch/nn/modules/fold.h"
#include "torch/nn/modules/linear.h"
#include "torch/nn/modules/normalization.h"
#include "torch/nn/modules/padding.h"
#include "torch/nn/modules/pooling.h"
