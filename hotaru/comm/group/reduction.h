// How the elements of several ranks become one.
#pragma once

#include <cstdint>
#include <string>

#include "hotaru/core/dtype.h"

namespace hotaru::comm {

enum class ReduceKind : uint8_t {
  kSum,
  kAverage,
  kProduct,
  kMin,
  kMax,
  kBitAnd,
  kBitOr,
  kBitXor,
  kScaledSum,
};

/// An operation on elements that is the same in any order but for rounding.
struct Reduction {
  ReduceKind kind = ReduceKind::kSum;
  double factor = 1;  // of kScaledSum: of every rank's elements

  /// PyTorch's, "SUM".
  const char* name() const;
  /// Throws ValueError for what the elements' type does not have.
  void check(DType dtype, const char* op) const;
  /// Before ranks are added up, and when they are.
  void prepare(DType dtype, void* data, int64_t count) const;
  void conclude(DType dtype, void* data, int64_t count, int ranks) const;
};

/// into[i] = into[i] op other[i]; float16 and bfloat16 are rounded each time.
void reduce_into(const Reduction& reduction, DType dtype, void* into,
                 const void* other, int64_t count);

}  // namespace hotaru::comm
