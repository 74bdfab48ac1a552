// The meta device: tensors with a shape and a dtype but without elements. Its
// stream takes calls and drops them, so every operator gives there what it
// decides (dtypes, shapes, strides, errors) and computes nothing.
#pragma once

#include "hotaru/runtime/backend.h"

namespace hotaru {

/// Enters it into the table of devices at the first call. From then on calls
/// on the CPU look at their tensors' devices. Thread-safe.
Backend& meta_backend();

}  // namespace hotaru
