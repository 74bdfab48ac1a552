// Checks of values that nobody waits for: an operator that has to refuse some
// values says so when they are there.
#pragma once

#include <string>

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Error with the text unless a tensor of one element holds: on the CPU's
/// immediate stream now, elsewhere when the host next waits for the stream.
/// What was enqueued behind it runs nevertheless. Part of a graph, it is looked
/// at in each replay.
void require(const Tensor& condition, std::string text);

/// Tells whether require() in place of a look at the values keeps the host from
/// waiting: anywhere but on the CPU, and where a graph is captured.
bool requires_later(const Tensor& t);

}  // namespace hotaru
