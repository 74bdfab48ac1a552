// Element types under their C++ names.
#pragma once

#include "hotaru/core/dtype.h"

namespace hotaru {

/// As PyTorch's compiler prints them in some of its messages: "float",
/// "long int", "c10::Half".
const char* cpp_type_name(DType dtype);

}  // namespace hotaru
