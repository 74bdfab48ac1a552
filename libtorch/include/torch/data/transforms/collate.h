// A vector of examples as one batch.
#pragma once

#include <vector>

#include "torch/data/example.h"
#include "torch/data/transforms/lambda.h"

namespace torch::data::transforms {

template <class T, class Batch = std::vector<T>>
using Collation = BatchTransform<Batch, T>;

/// f(examples) gives the batch.
template <class T, class Batch = std::vector<T>>
using Collate = BatchLambda<Batch, T>;

}  // namespace torch::data::transforms
