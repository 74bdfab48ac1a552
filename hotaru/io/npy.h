// NumPy's files of one array (.npy), versions 1 to 3.
// Format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>
#include <string_view>

#include "hotaru/core/tensor.h"

namespace hotaru::io {

/// Reads an array, of either order of bytes, into a CPU tensor of the same
/// shape and dtype; an array in Fortran order keeps its order as strides.
/// Throws Error naming file and offset for anything but a complete array of
/// numbers, before memory beyond the file's size is asked for. What lies behind
/// the array is left alone; pipes and devices are read as far as it goes.
Tensor read_npy(const std::string& path);

/// NumPy's code of a dtype, such as "<f4". Throws TypeError for those that it
/// does not have.
std::string_view npy_code(DType dtype);

/// Writes a tensor, in row-major order, as a NewFile. Throws TypeError for
/// bfloat16, which NumPy does not have, and Error when the file cannot be
/// written.
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace hotaru::io
