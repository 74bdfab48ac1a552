// Tensors as they were before a capture, whose Python code runs but whose
// calls do not.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/autograd/node.h"

namespace hotaru::python {

/// Where a tensor looks and what autograd knows about it, not its values.
class TensorState {
 public:
  explicit TensorState(const Tensor& t);

  /// Tells in words what is another by now; null if nothing is.
  const char* difference() const;
  /// Everything as it was, the count of writes too.
  void restore() const;

 private:
  Tensor tensor_;
  Ref<Storage> storage_;
  size_t nbytes_;
  uint32_t version_;
  Dims sizes_, strides_;
  int64_t offset_;
  DType dtype_;
  Ref<TensorImpl> base_;
  bool had_meta_, requires_grad_ = false, retains_grad_ = false;
  size_t hooks_ = 0;
  Ref<autograd::Node> grad_fn_;
  uint32_t output_index_ = 0;
};

void init_tensor_state(nanobind::module_& m);

}  // namespace hotaru::python
