#include "hotaru/backend/cpu/linalg/reflectors.h"

#include <algorithm>
#include <limits>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/vectors.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

/// |x|, of elements whose squares may be out of range.
template <class T>
Real<T> length(int64_t count, const T* x, int64_t stride) {
  using R = Real<T>;
  R sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::norm(x[i * stride]);
  constexpr R kTiny =
      std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (sum > kTiny && sum <= std::numeric_limits<R>::max())
    return std::sqrt(sum);
  R largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::abs(x[i * stride]));
  if (largest == 0 || !(largest <= std::numeric_limits<R>::max()))
    return sum == 0 ? R(0) : std::sqrt(sum);
  sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const R ratio = std::abs(x[i * stride]) / largest;
    sum += ratio * ratio;
  }
  return largest * std::sqrt(sum);
}

}  // namespace

template <class T>
T reflector(int64_t count, T* x, int64_t stride) {
  if (count <= 0) return T(0);
  const Real<T> below = length(count - 1, x + stride, stride);
  const T alpha = x[0];
  if (below == 0 && std::imag(alpha) == 0) return T(0);
  const Real<T> modulus = std::hypot(std::abs(alpha), below);
  constexpr Real<T> kTiny = std::numeric_limits<Real<T>>::min() /
                            std::numeric_limits<Real<T>>::epsilon();
  if (modulus < kTiny) {  // whose reciprocal would be infinite
    for (int64_t i = 0; i < count; ++i) x[i * stride] *= 1 / kTiny;
    const T tau = reflector(count, x, stride);
    x[0] *= kTiny;
    return tau;
  }
  const Real<T> beta = std::signbit(std::real(alpha)) ? modulus : -modulus;
  const T scale = T(1) / (alpha - T(beta));
  for (int64_t i = 1; i < count; ++i)
    x[i * stride] = product(x[i * stride], scale);
  x[0] = T(beta);
  return (T(beta) - alpha) / T(beta);
}

template <class T>
BlockReflector<T>::BlockReflector(int64_t rows, int64_t width,
                                  MatrixRef<T> from, const T* taus)
    : rows_(rows),
      width_(width),
      v_(size_t(rows * width)),
      t_(size_t(width * width)) {
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t own = std::min(i, width);
    for (int64_t c = 0; c < own; ++c)
      v_[size_t(i * width + c)] =
          from.data[i * from.row_stride + c * from.col_stride];
    if (i < width) v_[size_t(i * width + i)] = T(1);
  }
  if constexpr (kIsComplex<T>) {
    adjoint_.resize(v_.size());
    transpose(rows, width, v_.data(), width, adjoint_.data(), rows,
              conjugate<T>);
  }
  accumulate(taus);
}

/// Column by column: H_0 ... H_c has the column -tau_c T (V^H v_c) above
/// tau_c.
template <class T>
void BlockReflector<T>::accumulate(const T* taus) {
  const int64_t w = width_;
  std::vector<T> gram(size_t(w * w));
  std::vector<T> column(static_cast<size_t>(w)), turned(column);
  gemm<T>(w, w, rows_, T(1), left(), {v_.data(), w, 1}, T(0), gram.data(), w);
  T* t = t_.data();
  for (int64_t c = 0; c < w; ++c) {
    for (int64_t i = 0; i < c; ++i)
      column[size_t(i)] = product(-taus[c], gram[size_t(i * w + c)]);
    rows_times(c, c, t, w, column.data(), turned.data());
    for (int64_t i = 0; i < c; ++i) t[i * w + c] = turned[size_t(i)];
    t[c * w + c] = taus[c];
  }
}

/// C by strips of columns: after the first product a strip is in a cache that
/// is near, and in few pages.
template <class T>
void BlockReflector<T>::apply(bool adjoint, int64_t n, T* c,
                              int64_t ldc) const {
  if (n <= 0 || width_ == 0) return;
  constexpr int64_t kBytes = 1 << 17, kColumns = 32, kWork = 1 << 18;
  const int64_t w = width_, row = rows_ * int64_t(sizeof(T));
  const int64_t strip =
      std::max<int64_t>(1, kBytes / row / kColumns) * kColumns;
  std::vector<T> conjugates;
  MatrixRef<T> t{t_.data(), w, 1};
  if (adjoint) {
    if constexpr (kIsComplex<T>) {
      conjugates = t_;
      for (T& x : conjugates) x = std::conj(x);
      t.data = conjugates.data();
    }
    t = t.transposed();
  }
  const auto turn = [&](int64_t columns, T* projected, T* turned, T* to) {
    gemm<T>(w, columns, rows_, T(1), left(), {to, ldc, 1}, T(0), projected,
            columns);
    gemm<T>(w, columns, w, T(1), t, {projected, columns, 1}, T(0), turned,
            columns);
    gemm<T>(rows_, columns, w, T(-1), {v_.data(), w, 1}, {turned, columns, 1},
            T(1), to, ldc);
  };
  const int64_t count = (n + strip - 1) / strip;
  parallel_for(0, count, kWork / (2 * rows_ * w * strip) + 1,
               [&](int64_t begin, int64_t end) {
                 const int64_t size = w * std::min(n, strip);
                 std::vector<T> room(size_t(2 * size));
                 for (int64_t i = begin; i < end; ++i)
                   turn(std::min(strip, n - i * strip), room.data(),
                        room.data() + size, c + i * strip);
               });
}

template <class T>
void apply_reflections(int64_t rows, int64_t count, MatrixRef<T> v,
                       const T* taus, int64_t n, T* c, int64_t ldc) {
  constexpr int64_t kTogether = 64;
  for (int64_t end = count; end > 0;) {
    const int64_t j = (end - 1) / kTogether * kTogether;
    const MatrixRef<T> from{v.data + j * (v.row_stride + v.col_stride),
                            v.row_stride, v.col_stride};
    const BlockReflector<T> block(rows - j, end - j, from, taus + j);
    block.apply(false, n, c + j * ldc, ldc);
    end = j;
  }
}

#define HOTARU_INSTANTIATE(T) \
  template T reflector(int64_t, T*, int64_t); \
  template class BlockReflector<T>; \
  template void apply_reflections(int64_t, int64_t, MatrixRef<T>, const T*, \
                                  int64_t, T*, int64_t);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
