// Numbers as formulas name them where the host has put them in: kernels get
// formula objects that are made.
#pragma once

#include <complex>

#include "hotaru/core/dtype.h"

namespace hotaru {

struct Scalar {
  double value;
  constexpr Scalar(double x = 0) : value(x) {}
  template <class T>
  T to() const;
  double to_double() const;
  int64_t to_int() const;
  std::complex<double> to_complex() const;
};

}  // namespace hotaru
