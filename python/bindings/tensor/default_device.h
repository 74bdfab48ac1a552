// Where factories make tensors when they are not told: set_default_device(),
// and `with torch.device(...):`. Each thread has its own.
#pragma once

#include <optional>

#include "bindings/tensor/types.h"

namespace hotaru::python {

/// Nothing where neither was said: then it is the CPU.
const std::optional<Device>& default_device();

/// Adds `with device:`, set_default_device() and get_default_device().
void init_default_device(nb::module_& m);

}  // namespace hotaru::python
