// Where the result of the running operator goes, if its caller has a tensor for
// it (`out=`): operators that end in one kernel then write straight into it.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// While it lives, the first result of this thread that lies in memory as
/// `out` does is `out`'s memory. Operators need not know: who gets another
/// result copies it. Nothing that runs meanwhile may read `out`.
class ResultPlace {
 public:
  explicit ResultPlace(const Tensor& out);
  ~ResultPlace();
  ResultPlace(const ResultPlace&) = delete;
  ResultPlace& operator=(const ResultPlace&) = delete;

 private:
  const Tensor* previous_;
};

/// As allocate(), for what an operator returns; at most once for a place.
Tensor allocate_result(IntSpan sizes, DType dtype, Device device);
Tensor allocate_result(IntSpan sizes, IntSpan strides, DType dtype,
                       Device device);

}  // namespace hotaru
