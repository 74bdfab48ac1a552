// Python for extensions.
#pragma once

#include "torch/csrc/autograd/python_variable.h"
#include "torch/csrc/utils/pybind.h"
