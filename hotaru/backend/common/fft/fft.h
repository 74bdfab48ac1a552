// Parameters of the kernel of Fourier transforms.
#pragma once

#include <cstdint>

namespace hotaru {

enum class FftKind : int64_t {
  kComplex,   // n complex numbers to n
  kFromReal,  // n real numbers to the first n / 2 + 1, or to all n
  kToReal,    // n / 2 + 1 complex numbers, which stand for n, to n real ones
};

/// Operands of "fft": write out, read in; or one that is transformed in place
/// (kComplex). Of any strides, equal sizes but for `dim`, and one precision.
/// Lines along dim are transformed:
///   out[k] = scale * sum over j of in[j] exp(-+2 pi i j k / n)
/// with - if forward (kFromReal always is, kToReal never). kToReal takes the
/// imaginary parts of the first and, of even n, the last number for 0.
/// kFromReal writes as many numbers as out has along dim: of all n those from
/// n / 2 + 1 on are conjugates of the others.
struct FftAttributes {
  FftKind kind = FftKind::kComplex;
  int64_t dim = 0;
  int64_t n = 1;
  bool forward = true;
  double scale = 1;
};

}  // namespace hotaru
