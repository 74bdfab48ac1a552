#pragma once

// Programs count on what libtorch's headers bring along.
#include <cmath>
#include <iomanip>
#include <iostream>

#include "torch/autograd.h"
#include "torch/cuda.h"
#include "torch/data.h"
#include "torch/enum.h"
#include "torch/graphs.h"
#include "torch/jit.h"
#include "torch/library.h"
#include "torch/nn.h"
#include "torch/optim.h"
#include "torch/serialize.h"
#include "torch/types.h"
#include "torch/utils.h"
#include "torch/version.h"
