// Copies of short runs of bytes, which move as one.
#pragma once

#include <optional>

#include "hotaru/backend/common/loop_nest.h"

namespace hotaru::cpu {

/// A copy whose innermost lines are dense and as long as a few registers, as
/// blocks of channels are.
class BlockCopy {
 public:
  /// Nothing if it is no such copy, or one of few elements. Of one dtype; x
  /// broadcasts to out. Looks at no memory.
  static std::optional<BlockCopy> of(const Tensor& out, const Tensor& x);

  void run(const Tensor& out, const Tensor& x) const;

 private:
  BlockCopy(LoopNest::Inner inner, int64_t size, int64_t bytes)
      : inner_(inner), size_(size), bytes_(bytes) {}

  LoopNest::Inner inner_;
  int64_t size_, bytes_;  // elements of a line, and their bytes
};

}  // namespace hotaru::cpu
