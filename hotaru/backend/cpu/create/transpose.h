// Copies that put elements into another order, by tiles.
#pragma once

#include <optional>

#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {

/// A copy whose rows are columns of what it reads: matrices, as many as the
/// other dimensions have places.
class TransposeCopy {
 public:
  /// Nothing if it is no such copy, or one of few elements. Tensors of one
  /// dtype of 4 or 8 bytes and of one shape; looks at no memory.
  static std::optional<TransposeCopy> of(const Tensor& out, const Tensor& x);

  void run(const Tensor& out, const Tensor& x) const;

 private:
  struct Dim {
    int64_t size, out, x;  // steps in elements
  };
  template <class Word>
  void run(Word* out, const Word* x) const;

  /// Dimensions of a matrix: x's step along rows and out's along columns is 1.
  Dim rows_, columns_;
  Dims sizes_, out_steps_, x_steps_;  // of the others
};

}  // namespace hotaru::cpu
