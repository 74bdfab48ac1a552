#pragma once

#include "torch/optim/adam.h"
#include "torch/optim/optimizer.h"
#include "torch/optim/sgd.h"
