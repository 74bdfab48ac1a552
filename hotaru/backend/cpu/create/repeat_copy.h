// Copies in which each element comes several times in a row.
#pragma once

#include <cstdint>
#include <optional>

#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// A copy to row-major memory from a tensor whose last dimension, a short one,
/// repeats neighbouring elements, as repeat_interleave has it.
class RepeatCopy {
 public:
  /// Nothing if it is no such copy, or one of few elements. Of one dtype. Looks
  /// at no memory.
  static std::optional<RepeatCopy> of(const Tensor& out, const Tensor& x);

  void run(const Tensor& out, const Tensor& x) const;

 private:
  explicit RepeatCopy(int64_t times) : times_(times) {}

  int64_t times_;
};

}  // namespace hotaru::cpu
