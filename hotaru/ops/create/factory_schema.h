// Pieces that the schemas of all factories have in common.
#pragma once

#include "hotaru/ops/create/factory.h"

/// The tail of a factory's schema, and the C++ parameters for it.
#define HOTARU_OPTIONS \
  "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, " \
  "bool? pin_memory=None"
#define HOTARU_OPTION_ARGS \
  Optional<DType> dtype, Value, Optional<Device> device, Value

namespace hotaru {

inline TensorOptions given_options(const Optional<DType>& dtype,
                                   const Optional<Device>& device) {
  TensorOptions out;
  out.dtype = dtype;
  out.device = device;
  return out;
}

}  // namespace hotaru
