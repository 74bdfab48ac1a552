// Operators that are linear in their one tensor: padding, resampling, window
// unrolling. Their gradient is the transposed map, and that one's gradient is
// the operator again.
#pragma once

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/flat.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {

/// A kernel and its transpose. Both take {write out, read x, read index}, all
/// row-major, and the same attributes; index may be undefined.
struct LinearMap {
  const char* node;
  const char* transposed_node;
  const Kernel* forward;
  const Kernel* transposed;
  /// Set if the gradient names the operator's input (ops/flat.h), as PyTorch's
  /// formulas do that are given it.
  bool flat = false;

  LinearMap transpose() const {
    return {transposed_node, node, transposed, forward};
  }
};

/// The map's value, of size `size`, with its gradient recorded.
template <class A>
Tensor apply_linear(const LinearMap& map, const Tensor& x, IntSpan size,
                    const A& attributes, const Tensor& index = {}) {
  const Tensor out = allocate(size, x.dtype(), x.device());
  {
    autograd::NoGrad guard;
    const Tensor dense = contiguous(x);
    enqueue(*map.forward, {write(out), read(dense), read(index)}, attributes);
  }
  if (!autograd::needs_grad(x)) return out;
  // Who saves nothing may go back as often as it likes.
  if (!index.defined()) {
    autograd::record(map.node, out, {x}, {},
                     [map, attributes, size = Dims(x.sizes())](
                         autograd::Backward& node, const Tensor& g) -> Tensors {
                       const Tensor back =
                           apply_linear(map.transpose(), g, size, attributes);
                       return {map.flat ? flat_in(node, back) : back};
                     });
    return out;
  }
  autograd::record(map.node, out, {x}, {index},
                   [map, attributes, size = Dims(x.sizes())](
                       autograd::Backward& node, const Tensor& g) -> Tensors {
                     const Tensor back = apply_linear(
                         map.transpose(), g, size, attributes, node.saved(0));
                     return {map.flat ? flat_in(node, back) : back};
                   });
  return out;
}

}  // namespace hotaru
