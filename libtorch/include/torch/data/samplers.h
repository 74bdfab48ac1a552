#pragma once

#include "torch/data/samplers/base.h"
#include "torch/data/samplers/random.h"
#include "torch/data/samplers/sequential.h"
#include "torch/data/samplers/stream.h"
