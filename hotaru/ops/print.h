// The text of tensors that C++ programs and scripts print.
#pragma once

#include <ostream>
#include <string>

#include "hotaru/core/tensor.h"

namespace hotaru {

/// A tensor's type as PyTorch's C++ names it: "CPUFloatType",
/// "SparseCPULongType", and "UndefinedType".
std::string type_text(const Tensor& t);

/// Prints columns of one width that fit `linesize` characters, a common scale
/// above them, type and sizes below. Waits for the tensor's writers. Of complex
/// numbers only the real parts are shown.
void print_columns(std::ostream& out, const Tensor& t, int64_t linesize = 80);

}  // namespace hotaru
