// Integers used as positions.
#pragma once

#include <algorithm>

#include "hotaru/backend/common/index/bounds.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// Calls f.template operator()<I>() for int64 and int32 indices.
template <class F>
void visit_index(const Tensor& index, F&& f) {
  if (index.dtype() == DType::kInt32) return f.template operator()<int32_t>();
  f.template operator()<int64_t>();
}

/// Sums of integers wrap around instead of overflowing.
template <class T>
T plus(T a, T b) {
  if constexpr (kIsBool<T>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) + uint64_t(b));
  else if constexpr (kIsReduced<T>)
    return T(float(a) + float(b));
  else
    return a + b;
}
template <class T>
T times(T a, T b) {
  if constexpr (kIsBool<T>)
    return a && b;
  else if constexpr (std::is_integral_v<T>)
    return T(uint64_t(a) * uint64_t(b));
  else if constexpr (kIsReduced<T>)
    return T(float(a) * float(b));
  else
    return a * b;
}

/// y = x for n elements that lie ys and xs apart.
struct CopyRun {
  template <class T>
  void operator()(T* y, const T* x, int64_t n, int64_t ys, int64_t xs) const {
    if (xs == 1 && ys == 1)
      std::copy_n(x, n, y);
    else
      for (int64_t i = 0; i < n; ++i) y[i * ys] = x[i * xs];
  }
  /// Copies one element.
  template <class T>
  void one(T* y, const T* x) const {
    *y = *x;
  }
};
/// f(y, x), likewise, of an element of each.
template <class F>
struct EachRun {
  F f;
  template <class A, class B>
  void operator()(A* y, const B* x, int64_t n, int64_t ys, int64_t xs) const {
    if (xs == 1 && ys == 1)
      for (int64_t i = 0; i < n; ++i) f(y[i], x[i]);
    else
      for (int64_t i = 0; i < n; ++i) f(y[i * ys], x[i * xs]);
  }
  template <class A, class B>
  void one(A* y, const B* x) const {
    f(*y, *x);
  }
};
/// Clang before 17 deduces nothing of aggregates by itself.
template <class F>
EachRun(F) -> EachRun<F>;
/// y += x, of one element.
struct AddOne {
  template <class A, class B>
  void operator()(A& y, const B& x) const {
    y = plus(y, A(x));
  }
};
using AddRun = EachRun<AddOne>;
/// CopyRun from the first to the second.
struct ReadRun {
  template <class T>
  void operator()(const T* x, T* y, int64_t n, int64_t xs, int64_t ys) const {
    CopyRun()(y, x, n, ys, xs);
  }
  template <class T>
  void one(const T* x, T* y) const {
    *y = *x;
  }
};

}  // namespace hotaru::cpu
