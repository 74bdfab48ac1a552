// Sums and products of integers.
#pragma once

#include <cstdint>
#include <iterator>
#include <numeric>

namespace c10 {

template <class Container>
int64_t sum_integers(const Container& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}
template <class Container>
int64_t multiply_integers(const Container& values) {
  int64_t product = 1;
  for (const auto& value : values) product *= value;
  return product;
}
template <class Iterator,
          class = typename std::iterator_traits<Iterator>::value_type>
int64_t multiply_integers(Iterator begin, Iterator end) {
  int64_t product = 1;
  for (; begin != end; ++begin) product *= *begin;
  return product;
}
/// Product of the sizes of dimensions k and on.
inline int64_t numelements_from_dim(int k, const auto& sizes) {
  return multiply_integers(sizes.begin() + k, sizes.end());
}

}  // namespace c10
