// Functions that hotaru.cuda is made of.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// The tensor in page-locked memory: itself if it lies there. Throws unless it
/// is on the CPU and there is a device.
Tensor pin_memory(const Tensor& t);

void init_accelerator(nanobind::module_& m);

}  // namespace hotaru::python
