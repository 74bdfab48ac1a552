// Distances of all pairs of rows.
#include "hotaru/backend/common/distance/cdist.h"

#include <cmath>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/distance/difference_sums.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/independent.h"

namespace hotaru::cpu {
namespace {

/// f(d) added up over the columns, in lanes that the compiler makes a vector.
template <class T, class F>
T add_up(const T* x, const T* y, int64_t columns, const F& f) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes] = {}, rest = 0;
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += f(x[i + l] - y[i + l]);
  for (; i < columns; ++i) rest += f(x[i] - y[i]);
  for (const T lane : lanes) rest += lane;
  return rest;
}

template <class T>
T largest(const T* x, const T* y, int64_t columns) {
  T most = 0;
  for (int64_t i = 0; i < columns; ++i) {
    const T d = std::abs(x[i] - y[i]);
    most = d > most || std::isnan(d) ? d : most;
    if (std::isnan(most)) break;
  }
  return most;
}

/// Distance for p other than 1 and 2.
template <class T>
T distance(const T* x, const T* y, int64_t columns, T p) {
  if (p == 0)
    return add_up(x, y, columns, [](T d) { return d != 0 ? T(1) : T(0); });
  if (std::isinf(p)) return largest(x, y, columns);
  const T sum =
      add_up(x, y, columns, [p](T d) { return std::pow(std::abs(d), p); });
  return std::pow(sum, 1 / p);
}

/// out[r] is the distance from x to row r of y [rows, columns].
template <class T>
void distances(const T* x, const T* y, int64_t rows, int64_t columns, T p,
               T* out) {
  if (p == 1 || p == 2) {
    sum_differences(p == 2, x, y, rows, columns, out);
    for (int64_t r = 0; p == 2 && r < rows; ++r) out[r] = std::sqrt(out[r]);
    return;
  }
  for (int64_t r = 0; r < rows; ++r)
    out[r] = distance(x, y + r * columns, columns, p);
}

/// Adds to `out` what flows through one distance: g * d distance / d x.
template <class T>
void add_gradient(T* out, const T* x, const T* y, int64_t columns, T p, T g,
                  T distance) {
  const auto add = [&](const auto& f) {
    HOTARU_INDEPENDENT
    for (int64_t i = 0; i < columns; ++i) out[i] += f(x[i] - y[i]);
  };
  const auto sign = [](T d) { return T((d > 0) - (d < 0)); };
  if (p == 1) return add([=](T d) { return sign(d) * g; });
  if (p == 0 || distance == 0) return;
  if (p == 2) return add([r = g / distance](T d) { return r * d; });
  if (std::isinf(p))
    return add(
        [=](T d) { return std::abs(d) == distance ? sign(d) * g : T(0); });
  const T r = g / std::pow(distance, p - 1);
  add([=](T d) {
    return d == 0 ? T(0) : sign(d) * std::pow(std::abs(d), p - 1) * r;
  });
}

struct Pairs {
  explicit Pairs(const Tensor& x1, const Tensor& x2)
      : batches(x1.size(0)),
        rows(x1.size(1)),
        others(x2.size(1)),
        columns(x1.size(2)) {}

  /// f(row of x1, its batch) for every row.
  template <class F>
  void for_rows(const F& f) const {
    parallel_for(0, batches * rows, row_grain(others * columns),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) f(i, i / rows);
                 });
  }

  int64_t batches, rows, others, columns;
};

constexpr KernelTypes<FloatTypes> kTypes{0, "cdist"};

void cdist(const KernelCall& call) {
  const Tensor &x1 = call.tensor(1), &x2 = call.tensor(2);
  const Pairs n(x1, x2);
  kTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T *x = x1.data<T>(), *y = x2.data<T>();
    const T p = T(call.attributes<CdistAttributes>().p);
    n.for_rows([&](int64_t row, int64_t batch) {
      distances(x + row * n.columns, y + batch * n.others * n.columns, n.others,
                n.columns, p, out + row * n.others);
    });
  });
}

/// Operands: result, rows [n, columns]. Each pair of different rows once.
void pdist(const KernelCall& call) {
  const Tensor& rows = call.tensor(1);
  const int64_t n = rows.size(0), columns = rows.size(1);
  kTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T* x = rows.data<T>();
    const T p = T(call.attributes<CdistAttributes>().p);
    parallel_for(0, n, row_grain(n * columns / 2),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const T* row = x + i * columns;
                     distances(row, row + columns, n - i - 1, columns, p,
                               out + i * (2 * n - i - 1) / 2);
                   }
                 });
  });
}

void cdist_grad(const KernelCall& call) {
  const Tensor &x1 = call.tensor(2), &x2 = call.tensor(3);
  const Pairs n(x1, x2);
  kTypes.visit(call, [&]<class T>() {
    T* out = call.tensor(0).data<T>();
    const T *g = call.tensor(1).data<T>(),
            *distances = call.tensor(4).data<T>();
    const T *x = x1.data<T>(), *y = x2.data<T>();
    const T p = T(call.attributes<CdistAttributes>().p);
    n.for_rows([&](int64_t row, int64_t batch) {
      T* to = out + row * n.columns;
      std::fill_n(to, n.columns, T(0));
      for (int64_t j = 0; j < n.others; ++j) {
        const int64_t pair = row * n.others + j;
        add_gradient(to, x + row * n.columns,
                     y + (batch * n.others + j) * n.columns, n.columns, p,
                     g[pair], distances[pair]);
      }
    });
  });
}

HOTARU_KERNEL(kCPU, "cdist", cdist, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "pdist", pdist, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "cdist_grad", cdist_grad, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
