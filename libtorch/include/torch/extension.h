// Headers that extensions of Python include: torch/torch.h and pybind11.
#pragma once

#include "torch/all.h"
#include "torch/library.h"
#include "torch/python.h"
