// PyTorch's tensor library, over hotaru.
#pragma once

#if __cplusplus < 202002L
#error "hotaru's headers need C++20: compile with -std=c++20"
#endif

#include "ATen/Context.h"
#include "ATen/DeviceGuard.h"
#include "ATen/Dispatch.h"
#include "ATen/Functions.h"
#include "ATen/Parallel.h"
#include "ATen/TensorIndexing.h"
#include "ATen/core/Generator.h"
#include "ATen/core/Reduction.h"
#include "ATen/core/Tensor.h"
#include "ATen/core/boxed.h"
#include "ATen/ops/tensor.h"
#include "c10/core/GradMode.h"
#include "c10/core/TensorOptions.h"
#include "c10/util/irange.h"
