// Factorisations by the simplest methods, in double: what the stand-in for
// cuSOLVER computes with. G. Golub and C. Van Loan, Matrix computations.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "hotaru/backend/soft_gpu/libraries/queue.h"

namespace hotaru::soft_gpu {

/// By columns.
struct Dense {
  int64_t rows, columns;
  std::vector<Number> data;

  Dense(int64_t m, int64_t n) : rows(m), columns(n), data(size_t(m * n)) {}
  static Dense unit(int64_t m, int64_t n) {
    Dense out(m, n);
    for (int64_t i = 0; i < std::min(m, n); ++i) out(i, i) = 1;
    return out;
  }
  Number& operator()(int64_t i, int64_t j) {
    return data[size_t(j * rows + i)];
  }
  const Number& operator()(int64_t i, int64_t j) const {
    return data[size_t(j * rows + i)];
  }
  Number* column(int64_t j) { return &data[size_t(j * rows)]; }
  Dense adjoint() const;
  /// Columns in another order.
  Dense picked(const std::vector<int64_t>& order) const;
};

/// Reflections below the diagonal, R above, and their factors, as LAPACK.
std::vector<Number> householder(Dense& a);
/// The first columns of the product of those reflections.
Dense product(const Dense& reflections, const std::vector<Number>& factors,
              int64_t columns);
/// Rows exchanged, from 1 on; the first zero on the diagonal, or 0.
int lu(Dense& a, std::vector<int64_t>& pivots);
/// The upper factor over the upper triangle; the order of the first minor that
/// is not positive, or 0.
int cholesky(Dense& a);
/// a becomes its vectors; values ascend.
std::vector<double> hermitian(Dense& a);
/// a [m, n]; u and v with all their columns; values descend.
std::vector<double> singular(const Dense& a, Dense& u, Dense& v);
/// Vectors of length 1 whose largest element is real, each of the value beside.
std::vector<Number> general(Dense a, Dense& vectors);

}  // namespace hotaru::soft_gpu
