// PyTorch's vector that seldom allocates.
#pragma once

#include <vector>

#include "c10/util/ArrayRef.h"

namespace c10 {

/// A std::vector that converts from what SmallVector converts from.
template <class T, unsigned N = 5>
class SmallVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  SmallVector() = default;
  explicit SmallVector(ArrayRef<T> items)
      : std::vector<T>(items.begin(), items.end()) {}
  template <class Iterator>
  void append(Iterator begin, Iterator end) {
    this->insert(this->end(), begin, end);
  }
};
template <class T>
using SmallVectorImpl = std::vector<T>;

using DimVector = SmallVector<int64_t, 5>;

}  // namespace c10

namespace at {
using c10::DimVector;
using c10::SmallVector;
}  // namespace at
