#include "hotaru/backend/soft_gpu/libraries/dense.h"

namespace hotaru::soft_gpu {
namespace {

constexpr double kEpsilon = 1e-16;

double length(const Number* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::norm(x[i]);
  return std::sqrt(sum);
}
Number inner(const Number* x, const Number* y, int64_t n) {
  Number sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::conj(x[i]) * y[i];
  return sum;
}

/// x becomes a reflection's vector behind what it leaves, LAPACK's larfg.
Number reflector(Number* x, int64_t n) {
  const double rest = length(x + 1, n - 1), re = x[0].real();
  if (rest == 0 && x[0].imag() == 0) return 0;
  const double left = -std::copysign(std::hypot(std::abs(x[0]), rest), re);
  const Number factor((left - re) / left, -x[0].imag() / left);
  for (int64_t i = 1; i < n; ++i) x[i] /= x[0] - left;
  x[0] = left;
  return factor;
}
/// to -= factor v v^H to, v[0] taken for 1.
void reflect(const Number* v, Number factor, Number* to, int64_t n) {
  Number sum = to[0];
  for (int64_t i = 1; i < n; ++i) sum += std::conj(v[i]) * to[i];
  to[0] -= factor * sum;
  for (int64_t i = 1; i < n; ++i) to[i] -= factor * sum * v[i];
}

/// Rotation that makes `both` = x_p^H x_q vanish, of columns and, conjugated,
/// rows.
struct Rotation {
  double c, s;
  Number phase;

  Rotation(double p, double q, Number both) : phase(both / std::abs(both)) {
    const double ratio = (q - p) / (2 * std::abs(both));
    const double t =
        std::copysign(1, ratio) / (std::abs(ratio) + std::hypot(1, ratio));
    c = 1 / std::hypot(1, t);
    s = t * c;
  }
  void turn(Number& p, Number& q, bool row = false) const {
    const Number other = (row ? phase : std::conj(phase)) * q, old = p;
    p = c * old - s * other;
    q = s * old + c * other;
  }
  void turn(Dense& a, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < a.rows; ++i) turn(a(i, p), a(i, q));
  }
};

std::vector<int64_t> order_of(const std::vector<double>& values, bool up) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const double x = values[size_t(a)], y = values[size_t(b)];
    return up ? x < y : y < x;
  });
  return order;
}
std::vector<double> picked(const std::vector<double>& from,
                           const std::vector<int64_t>& order) {
  std::vector<double> out;
  for (const int64_t i : order) out.push_back(from[size_t(i)]);
  return out;
}

/// Columns from `known` on become any that are orthogonal to all others.
void complete(Dense& u, int64_t known) {
  int64_t next = 0;
  for (int64_t j = known; j < u.columns; ++next) {
    Number* const x = u.column(j);
    std::fill_n(x, u.rows, Number(0));
    x[next % u.rows] = 1;
    for (int again = 0; again < 2; ++again)
      for (int64_t k = 0; k < j; ++k) {
        const Number part = inner(u.column(k), x, u.rows);
        for (int64_t i = 0; i < u.rows; ++i) x[i] -= part * u(i, k);
      }
    const double size = length(x, u.rows);
    if (size * std::sqrt(double(u.rows)) < 0.5) continue;
    for (int64_t i = 0; i < u.rows; ++i) x[i] /= size;
    ++j;
  }
}

/// a becomes triangular, q what turned it.
void schur(Dense& a, Dense& q) {
  const int64_t n = a.rows;
  const auto rotate = [&](int64_t p, Number x, Number y) {
    const double size = std::hypot(std::abs(x), std::abs(y));
    if (size == 0) return;
    const Number c = x / size, s = y / size;
    for (int64_t j = 0; j < n; ++j) {
      const Number up = a(p, j), low = a(p + 1, j);
      a(p, j) = std::conj(c) * up + std::conj(s) * low;
      a(p + 1, j) = -s * up + c * low;
    }
    for (Dense* to : {&a, &q})
      for (int64_t i = 0; i < n; ++i) {
        const Number left = (*to)(i, p), right = (*to)(i, p + 1);
        (*to)(i, p) = c * left + s * right;
        (*to)(i, p + 1) = -std::conj(s) * left + std::conj(c) * right;
      }
  };
  // Columns' lower elements vanish from below: what is left is Hessenberg's.
  for (int64_t j = 0; j + 2 < n; ++j)
    for (int64_t i = n - 2; i > j; --i) rotate(i, a(i, j), a(i + 1, j));
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    int64_t first = last;
    while (first > 0 && std::abs(a(first, first - 1)) >
                            kEpsilon * (std::abs(a(first, first)) +
                                        std::abs(a(first - 1, first - 1))))
      --first;
    if (first == last || ++steps > 300) {
      a(last, last - 1) = 0;
      --last;
      steps = 0;
      continue;
    }
    // Shift: of the last two rows' values the one that is nearer to the last
    // element.
    const Number p = a(last - 1, last - 1), d = a(last, last);
    const Number half = (p - d) / 2.0;
    const Number root =
        std::sqrt(half * half + a(last - 1, last) * a(last, last - 1));
    const Number one = half + root, two = half - root;
    const Number shift = d + (std::abs(one) < std::abs(two) ? one : two);
    // A bulge that begins with the shifted matrix's first column.
    Number x = a(first, first) - shift, y = a(first + 1, first);
    for (int64_t k = first; k < last; ++k) {
      rotate(k, x, y);
      if (k + 1 < last) x = a(k + 1, k), y = a(k + 2, k);
    }
  }
}

}  // namespace

Dense Dense::adjoint() const {
  Dense out(columns, rows);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) out(j, i) = std::conj((*this)(i, j));
  return out;
}
Dense Dense::picked(const std::vector<int64_t>& order) const {
  Dense out(rows, int64_t(order.size()));
  for (int64_t j = 0; j < out.columns; ++j)
    for (int64_t i = 0; i < rows; ++i) out(i, j) = (*this)(i, order[size_t(j)]);
  return out;
}

std::vector<Number> householder(Dense& a) {
  std::vector<Number> factors;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    factors.push_back(reflector(&a(k, k), a.rows - k));
    for (int64_t j = k + 1; j < a.columns; ++j)
      reflect(&a(k, k), std::conj(factors.back()), &a(k, j), a.rows - k);
  }
  return factors;
}

Dense product(const Dense& reflections, const std::vector<Number>& factors,
              int64_t columns) {
  Dense out = Dense::unit(reflections.rows, columns);
  for (int64_t k = int64_t(factors.size()); k-- > 0;)
    for (int64_t j = 0; j < columns; ++j)
      reflect(&reflections(k, k), factors[size_t(k)], &out(k, j),
              reflections.rows - k);
  return out;
}

int lu(Dense& a, std::vector<int64_t>& pivots) {
  int zero = 0;
  const auto size = [](Number x) {
    return std::abs(x.real()) + std::abs(x.imag());
  };
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t most = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (size(a(i, k)) > size(a(most, k))) most = i;
    pivots.push_back(most + 1);
    for (int64_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(most, j));
    if (a(k, k) == Number(0)) {
      if (!zero) zero = int(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= a(k, k);
    for (int64_t j = k + 1; j < a.columns; ++j)
      for (int64_t i = k + 1; i < a.rows; ++i) a(i, j) -= a(i, k) * a(k, j);
  }
  return zero;
}

int cholesky(Dense& a) {
  for (int64_t k = 0; k < a.rows; ++k) {
    const double diagonal = a(k, k).real();
    if (!(diagonal > 0)) return int(k + 1);
    a(k, k) = std::sqrt(diagonal);
    for (int64_t j = k + 1; j < a.rows; ++j) a(k, j) /= a(k, k);
    for (int64_t j = k + 1; j < a.rows; ++j)
      for (int64_t i = k + 1; i <= j; ++i)
        a(i, j) -= std::conj(a(k, i)) * a(k, j);
  }
  return 0;
}

std::vector<double> hermitian(Dense& a) {
  Dense v = Dense::unit(a.rows, a.rows);
  for (int sweep = 0, more = 1; more && sweep < 60; ++sweep) {
    more = 0;
    const double size = length(a.data.data(), a.rows * a.rows);
    for (int64_t q = 1; q < a.rows; ++q)
      for (int64_t p = 0; p < q; ++p) {
        if (!(std::abs(a(p, q)) > kEpsilon * size)) continue;
        more = 1;
        const Rotation r(a(p, p).real(), a(q, q).real(), a(p, q));
        r.turn(a, p, q);
        for (int64_t j = 0; j < a.rows; ++j) r.turn(a(p, j), a(q, j), true);
        a(p, q) = a(q, p) = 0;
        r.turn(v, p, q);
      }
  }
  std::vector<double> values;
  for (int64_t i = 0; i < a.rows; ++i) values.push_back(a(i, i).real());
  const auto order = order_of(values, true);
  a = v.picked(order);
  return picked(values, order);
}

std::vector<double> singular(const Dense& a, Dense& u, Dense& v) {
  if (a.rows < a.columns) return singular(a.adjoint(), v, u);
  Dense b = a, right = Dense::unit(a.columns, a.columns);
  // Columns that are no more than rounding have no direction to be turned by.
  const double least = 1e-30 * length(a.data.data(), a.rows * a.columns);
  for (int sweep = 0, more = 1; more && sweep < 60; ++sweep) {
    more = 0;
    for (int64_t q = 1; q < b.columns; ++q)
      for (int64_t p = 0; p < q; ++p) {
        const double x = length(b.column(p), b.rows);
        const double y = length(b.column(q), b.rows);
        const Number both = inner(b.column(p), b.column(q), b.rows);
        if (std::min(x, y) <= least || !(std::abs(both) > 1e-15 * x * y))
          continue;
        more = 1;
        const Rotation r(x * x, y * y, both);
        r.turn(b, p, q);
        r.turn(right, p, q);
      }
  }
  std::vector<double> values;
  for (int64_t j = 0; j < b.columns; ++j)
    values.push_back(length(b.column(j), b.rows));
  const auto order = order_of(values, false);
  values = picked(values, order);
  v = right.picked(order);
  b = b.picked(order);
  u = Dense(b.rows, b.rows);
  int64_t rank = 0;
  for (; rank < b.columns; ++rank) {
    const double size = values[size_t(rank)];
    if (!(size > 1e-13 * values[0])) break;
    for (int64_t i = 0; i < b.rows; ++i) u(i, rank) = b(i, rank) / size;
  }
  complete(u, rank);
  return values;
}

std::vector<Number> general(Dense a, Dense& vectors) {
  const int64_t n = a.rows;
  Dense q = Dense::unit(n, n), x(n, n);
  schur(a, q);
  const double least = kEpsilon * length(a.data.data(), n * n);
  std::vector<Number> values;
  vectors = Dense(n, n);
  for (int64_t c = 0; c < n; ++c) {
    values.push_back(a(c, c));
    x(c, c) = 1;
    for (int64_t i = c; i-- > 0;) {
      Number sum = 0;
      for (int64_t j = i + 1; j <= c; ++j) sum -= a(i, j) * x(j, c);
      const Number by = a(i, i) - a(c, c);
      x(i, c) = sum / (std::abs(by) < least ? Number(least) : by);
    }
    Number most = 0;
    for (int64_t i = 0; i < n; ++i) {
      Number& to = vectors(i, c);
      for (int64_t j = 0; j <= c; ++j) to += q(i, j) * x(j, c);
      if (std::abs(to) > std::abs(most)) most = to;
    }
    const Number scale = std::abs(most) / most / length(vectors.column(c), n);
    for (int64_t i = 0; i < n; ++i) vectors(i, c) *= scale;
  }
  return values;
}

}  // namespace hotaru::soft_gpu
