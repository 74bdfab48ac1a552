// Eigen, for the factorisations that iterate: singular values and eigenvalues.
// Only sources that are compiled for size include this.
#pragma once

#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "hotaru/backend/cpu/linalg/matrix.h"

namespace hotaru::cpu {

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using RowMajor = Eigen::Map<
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// The i-th matrix of an operand, to read or to assign to.
template <class T>
RowMajor<T> mapped(const Tensor& t, int64_t i, int64_t rows,
                   int64_t columns = 1) {
  return RowMajor<T>(matrix<T>(t, i, rows, columns), rows, columns);
}

template <class T>
bool is_finite(const Dense<T>& a) {
  for (Eigen::Index i = 0; i < a.size(); ++i)
    if (!std::isfinite(std::real(a.data()[i])) ||
        !std::isfinite(std::imag(a.data()[i])))
      return false;
  return true;
}

}  // namespace hotaru::cpu
