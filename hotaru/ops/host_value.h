// Elements that an operator's own course depends on: a length, a check that
// must come before anything is written. Operators look at them here only,
// everything else they leave to kernels.
#pragma once

#include <vector>

#include "hotaru/core/scalar.h"
#include "hotaru/core/tensor.h"

namespace hotaru {

/// The element of a tensor with one. `why` ends the sentence "it is needed on
/// the host for ...". Waits for the work that computes it; while a graph is
/// captured throws an error that names the reason.
Scalar host_value(const Tensor& t, const char* why);

/// An element of that dtype as a number: beyond int64, of uint64, it is a
/// double, as ints of Python's are.
Scalar as_number(DType dtype, const Scalar& element);

/// The integers of a tensor of any shape, in order; the same otherwise.
std::vector<int64_t> host_integers(const Tensor& t, const char* why);

/// The elements as float64, of complex ones the real parts; the same otherwise.
std::vector<double> host_numbers(const Tensor& t, const char* why);

/// The reverse: a vector of int64 on a device.
Tensor integers_on(const std::vector<int64_t>& values, Device device);

struct ValueRange {
  Scalar lowest, highest;
};
/// Least and greatest element, NaN if there is one; the same otherwise. Throws
/// for an empty tensor.
ValueRange host_range(const Tensor& t, const char* why);

}  // namespace hotaru
