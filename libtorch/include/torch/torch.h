// PyTorch's C++ front end, over hotaru.
#pragma once

#include "torch/all.h"
