// A kernel of a program as one call at the door: for streams that run it later
// or record it.
#pragma once

#include "hotaru/ops/own/own_operator.h"

namespace hotaru::own {

/// Hands the call to the current stream of the device, with what it reads and
/// writes from the schema, and makes results as its kernel for Meta says.
/// False, with nothing done, where the stream runs calls at once or results
/// or writes are not known before: results need a kernel for Meta and may be no
/// views, and the schema must be the program's, not one that C++ types say. The
/// caller then runs the kernel itself, which waits for what it reads.
bool defer(const OwnOperator& op, const BoxedKernel& kernel, Device device,
           std::span<Value> arguments, Value* results);

}  // namespace hotaru::own
