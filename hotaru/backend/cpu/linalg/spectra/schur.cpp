// Schur's form by QR with many shifts at a time, in windows whose changes are
// applied to the rest of the matrix as products, and with early deflation of
// what has converged at the end (K. Braman, R. Byers and R. Mathias, "The
// multishift QR algorithm", parts I and II, 2002).
#include "hotaru/backend/cpu/linalg/spectra/schur.h"

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/linalg/spectra/condensed.h"
#include "hotaru/backend/cpu/linalg/spectra/small_schur.h"
#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru::cpu {
namespace {

/// Blocks up to this size are solved by themselves.
constexpr int64_t kSmall = 24;
/// Rounds for each eigenvalue.
constexpr int64_t kMostRounds = 30;

/// Pairs of shifts let into a matrix of n rows together.
int64_t pairs_for(int64_t n) {
  return n < 60 ? 3 : n < 150 ? 5 : n < 400 ? 10 : n < 800 ? 16 : 24;
}

template <class T>
class Iteration {
  using R = Real<T>;
  using C = std::complex<R>;

 public:
  Iteration(int64_t n, int64_t low, int64_t high, T* h, T* z)
      : n_(n), low_(low), high_(high), h_(h), z_(z) {
    norm_ = 0;
    for (int64_t i = low; i < high; ++i)
      for (int64_t j = std::max(low, i - 1); j < high; ++j)
        norm_ = std::max(norm_, magnitude(at(i, j)));
  }

  bool run() {
    int64_t round = 0, left = kMostRounds * (high_ - low_);
    for (int64_t high = high_; high > low_;) {
      int64_t low = high - 1;
      while (low > low_ && !small_below(h_, n_, low, norm_)) --low;
      if (low > low_) at(low, low - 1) = T(0);
      if (high - low <= kSmall) {
        if (!solve_small(low, high)) return false;
        high = low;
        continue;
      }
      if (left-- == 0) return false;
      const int64_t pairs = pairs_for(high - low);
      const int64_t size = std::min(3 * pairs, (high - low) / 2);
      const int64_t deflated = deflate(low, high, size);
      if (deflated < 0) return false;
      high -= deflated;
      round = deflated > 0 ? 0 : round + 1;
      if (7 * deflated > size || high - low <= kSmall) continue;
      choose_shifts(low, high, pairs, round);
      sweep(low, high);
    }
    return true;
  }

 private:
  T& at(int64_t i, int64_t j) { return h_[i * n_ + j]; }

  /// A window's copy, turned by nothing yet.
  Window<T> open(int64_t begin, int64_t end) {
    const int64_t w = end - begin;
    room_.resize(size_t(2 * w * w));
    const Window<T> window{w, room_.data(), room_.data() + w * w};
    for (int64_t i = 0; i < w; ++i)
      std::copy_n(&at(begin + i, begin), w, window.h + i * w);
    std::fill_n(window.turned, w * w, T(0));
    for (int64_t i = 0; i < w; ++i) window.turned[i * (w + 1)] = T(1);
    return window;
  }

  /// Puts it back, and turns what is right of it, above it and z likewise.
  void close(const Window<T>& window, int64_t begin, int64_t active_low,
             int64_t active_high) {
    const int64_t w = window.n, end = begin + w;
    const int64_t right = z_ ? n_ : active_high, top = z_ ? 0 : active_low;
    for (int64_t i = 0; i < w; ++i)
      std::copy_n(window.h + i * w, w, &at(begin + i, begin));
    if (right > end) {
      product_.resize(size_t(w * (right - end)));
      gemm<T>(w, right - end, w, T(1), {window.turned, w, 1},
              {&at(begin, end), n_, 1}, T(0), product_.data(), right - end);
      for (int64_t i = 0; i < w; ++i)
        std::copy_n(product_.data() + i * (right - end), right - end,
                    &at(begin + i, end));
    }
    conjugate_all(w * w, window.turned);
    if (begin > top) turn_columns(window, begin - top, h_ + top * n_ + begin);
    if (z_) turn_columns(window, n_, z_ + begin);
  }

  void turn_columns(const Window<T>& window, int64_t rows, T* x) {
    const int64_t w = window.n;
    product_.resize(size_t(rows * w));
    gemm<T>(rows, w, w, T(1), {x, n_, 1}, {window.turned, 1, w}, T(0),
            product_.data(), w);
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(product_.data() + i * w, w, x + i * n_);
  }

  bool solve_small(int64_t low, int64_t high) {
    if (high - low == 1) return true;
    const Window<T> window = open(low, high);
    if (!small_schur(window, norm_)) return false;
    close(window, low, low, high);
    return true;
  }

  /// Schur's form of the last `size` rows and columns alone: where what is left
  /// of these would touch their eigenvalues next to nothing they have
  /// converged. Returns how many, or -1; the others become shifts_.
  int64_t deflate(int64_t low, int64_t high, int64_t size) {
    constexpr R kEps = std::numeric_limits<R>::epsilon();
    const int64_t begin = high - size;
    const Window<T> w = open(begin, high);
    if (!small_schur(w, norm_)) return -1;
    const T beside = at(begin, begin - 1);
    std::vector<T> spike(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i)
      spike[size_t(i)] = product(w.turned[i * size], beside);
    int64_t kept = size;
    while (kept > 0) {
      const int64_t i = kept - 1;
      const bool two = i > 0 && w.at(i, i - 1) != T(0);
      R limit = magnitude(w.at(i, i)), rest = magnitude(spike[size_t(i)]);
      if (two) {
        limit += std::sqrt(magnitude(w.at(i, i - 1))) *
                 std::sqrt(magnitude(w.at(i - 1, i)));
        rest = std::max(rest, magnitude(spike[size_t(i - 1)]));
      }
      if (limit == 0) limit = norm_;
      if (rest > kEps * std::max(limit, kEps * norm_)) break;
      kept -= two ? 2 : 1;
    }
    shifts_.resize(size_t(kept));
    block_values(kept, w.h, size, shifts_.data());
    if (kept == size) return 0;
    restore(w, kept, spike.data());
    at(begin, begin - 1) = kept > 0 ? spike[0] : T(0);
    close(w, begin, low, high);
    return size - kept;
  }

  /// Makes the first rows Hessenberg again, and of the spike one element.
  void restore(const Window<T>& w, int64_t kept, T* spike) {
    std::vector<T> x(static_cast<size_t>(kept));
    for (int64_t k = -1; k + 2 < kept; ++k) {
      const int64_t count = kept - k - 1;
      for (int64_t i = 0; i < count; ++i)
        x[size_t(i)] = k < 0 ? spike[i] : w.at(k + 1 + i, k);
      const T tau = reflector(count, x.data(), 1);
      for (int64_t i = 0; i < count; ++i)
        (k < 0 ? spike[i] : w.at(k + 1 + i, k)) = i == 0 ? x[0] : T(0);
      x[0] = T(1);
      turn(w, k + 1, count, kept, tau, x.data());
    }
  }

  /// Rows and columns from k on by the reflection of v.
  void turn(const Window<T>& w, int64_t k, int64_t count, int64_t kept, T tau,
            const T* v) {
    std::vector<T> sums(size_t(w.n));
    std::vector<T> adjoint(v, v + count);
    conjugate_all(count, adjoint.data());
    const auto rows = [&](T* x, int64_t columns) {
      std::fill_n(sums.data(), columns, T(0));
      add_rows(count, columns, x, w.n, adjoint.data(), sums.data());
      for (int64_t i = 0; i < count; ++i)
        add_multiple(columns, -product(conjugate(tau), v[i]), sums.data(),
                     x + i * w.n);
    };
    rows(w.h + k * (w.n + 1), w.n - k);
    rows(w.turned + k * w.n, w.n);
    for (int64_t i = 0; i < kept; ++i) {
      T* x = w.h + i * w.n + k;
      T sum;
      rows_times(1, count, x, w.n, v, &sum);
      add_multiple(count, -product(sum, tau), adjoint.data(), x);
    }
  }

  /// The last ones of those the deflation left, in pairs that are conjugate or
  /// real if the matrix is.
  void choose_shifts(int64_t low, int64_t high, int64_t pairs, int64_t round) {
    std::vector<C> chosen, single;
    if (round % 6 == 5) {  // others, in case these turn in circles
      for (int64_t i = high - 1;
           i > low + 2 && int64_t(chosen.size()) < 2 * pairs; i -= 2) {
        const R size = magnitude(at(i, i - 1)) + magnitude(at(i - 1, i - 2));
        C two[2];
        const T middle = at(i, i) + T(R(0.75) * size);
        pair_values<T>(middle, T(R(-0.4375) * size), T(size), middle, two);
        chosen.insert(chosen.end(), two, two + 2);
      }
    } else {
      for (size_t i = shifts_.size(); i-- > 0;) {
        if (int64_t(chosen.size()) >= 2 * pairs) break;
        if (!kIsComplex<T> && shifts_[i].imag() != 0) {
          chosen.push_back(shifts_[i]);
          chosen.push_back(shifts_[--i]);
          continue;
        }
        single.push_back(shifts_[i]);
        if (single.size() < 2) continue;
        chosen.insert(chosen.end(), single.begin(), single.end());
        single.clear();
      }
    }
    if (chosen.empty()) {
      C two[2];
      pair_values(at(high - 2, high - 2), at(high - 2, high - 1),
                  at(high - 1, high - 2), at(high - 1, high - 1), two);
      chosen.assign(two, two + 2);
    }
    shifts_ = std::move(chosen);
  }

  /// A chain of bulges, one for each pair of shifts, from the top to the end.
  void sweep(int64_t low, int64_t high) {
    const int64_t bulges = int64_t(shifts_.size()) / 2;
    const int64_t width = 6 * bulges + 8, end_of_all = high - 2;
    // The columns from which they are driven on; three lie between two.
    std::vector<int64_t> places(size_t(bulges), low - 1);
    for (int64_t begin = low; places.back() < end_of_all;) {
      const int64_t end = std::min(high, begin + width);
      const Window<T> window = open(begin, end);
      int64_t limit = end == high ? end_of_all : end - 4;
      for (int64_t i = 0; i < bulges; ++i) {
        int64_t& k = places[size_t(i)];
        for (; k < limit; ++k)
          drive(window, k - begin, high - begin, shifts_.data() + 2 * i);
        limit = k == end_of_all ? end_of_all : k - 3;
      }
      close(window, begin, low, high);
      begin = std::max(begin, places.back());
    }
  }

  /// A bulge from column k on one row down; -1 lets it in.
  void drive(const Window<T>& w, int64_t k, int64_t high, const C* shifts) {
    const int64_t rows = std::min<int64_t>(3, high - k - 1);
    const int64_t end = std::min(k + 5, std::min(high, w.n));
    if (k < 0)
      return w.reflect(first_reflection(w.h, w.n, 0, shifts), 0, 0, end);
    T* x = &w.at(k + 1, k);
    const SmallReflection<T> turn(rows, x[0], x[w.n],
                                  rows > 2 ? x[2 * w.n] : T(0));
    x[0] = T(turn.beta);
    x[w.n] = T(0);
    if (rows > 2) x[2 * w.n] = T(0);
    w.reflect(turn, k + 1, k + 1, end);
  }

  int64_t n_, low_, high_;
  T *h_, *z_;
  R norm_;
  std::vector<T> room_, product_;
  std::vector<C> shifts_;
};

}  // namespace

template <class T>
bool schur(int64_t n, int64_t low, int64_t high, T* h, T* z) {
  return Iteration<T>(n, low, high, h, z).run();
}

template <class T>
void block_values(int64_t n, const T* h, int64_t ldh,
                  std::complex<Real<T>>* values) {
  for (int64_t i = 0; i < n; ++i) {
    const T* corner = h + i * (ldh + 1);
    if (i + 1 == n || corner[ldh] == T(0)) {
      values[i] = corner[0];
      continue;
    }
    pair_values(corner[0], corner[1], corner[ldh], corner[ldh + 1], values + i);
    ++i;
  }
}

#define HOTARU_INSTANTIATE(T) \
  template bool schur(int64_t, int64_t, int64_t, T*, T*); \
  template void block_values(int64_t, const T*, int64_t, \
                             std::complex<Real<T>>*);
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
