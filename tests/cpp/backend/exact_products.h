// Matrices of small integers, whose products are exact in any order.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace hotaru {

/// Integers between -8 and 8, row by row.
inline std::vector<float> small_integers(int64_t rows, int64_t cols, int seed) {
  std::vector<float> out(size_t(rows * cols));
  std::mt19937 random(static_cast<unsigned>(seed));
  for (float& x : out) x = float(int(random() % 17) - 8);
  return out;
}

/// The product of small_integers of [m, k] and seed 1 by those of [k, n] and
/// seed 2, row by row. Those of the last sizes are kept, as a test asks for
/// them in every layout and dtype; for one thread.
inline const std::vector<double>& exact_products(int64_t m, int64_t n,
                                                 int64_t k) {
  static std::vector<int64_t> sizes;
  static std::vector<double> sums;
  if (sizes == std::vector<int64_t>{m, n, k}) return sums;
  sizes = {m, n, k};
  sums.assign(size_t(m * n), 0);
  const std::vector<float> a = small_integers(m, k, 1);
  const std::vector<float> b = small_integers(k, n, 2);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p) {
      const double factor = a[size_t(i * k + p)];
      const float* row = b.data() + p * n;
      double* out = sums.data() + i * n;
      for (int64_t j = 0; j < n; ++j) out[j] += factor * double(row[j]);
    }
  return sums;
}

}  // namespace hotaru
