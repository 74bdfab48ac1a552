// Small tensors for the tests of operators.
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::testing_tensors {

/// A tensor of T with the given values.
template <class T>
Tensor tensor(const std::vector<T>& values, IntSpan sizes) {
  Tensor out = empty(sizes, kDTypeOf<T>);
  std::copy(values.begin(), values.end(), out.data<T>());
  return out;
}
inline Tensor vec(std::initializer_list<float> values) {
  return tensor<float>(values, Dims{int64_t(values.size())});
}
inline Tensor index(std::initializer_list<int64_t> values) {
  return tensor<int64_t>(values, Dims{int64_t(values.size())});
}
/// Numbers in (-1, 1) without a pattern.
inline Tensor waves(IntSpan sizes, DType dtype = DType::kFloat64) {
  Tensor out = empty(sizes, DType::kFloat64);
  for (int64_t i = 0; i < out.numel(); ++i)
    out.data<double>()[i] = std::sin(1.7 * double(i) + 0.3);
  return to(out, dtype);
}
/// The elements in row-major order.
template <class T>
std::vector<T> values(const Tensor& t) {
  const Tensor dense = contiguous(t);
  return {dense.data<T>(), dense.data<T>() + dense.numel()};
}

}  // namespace hotaru::testing_tensors
