// The 16-bit floats and complex numbers as elements of tensors.
#pragma once

#include <complex>

#include "hotaru/core/boolean.h"
#include "hotaru/core/half.h"

namespace c10 {

using hotaru::BFloat16;
using hotaru::Half;
template <class T>
using complex = std::complex<T>;

}  // namespace c10

namespace at {
using c10::BFloat16;
using c10::Half;
}  // namespace at
