#include "hotaru/ops/conv/conv_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;

constexpr const char* kSecondOrder = "ConvolutionBackwardBackward0";

/// How a kernel gets its operands: PyTorch's rule, by which one of them with
/// its channels last is enough.
MemoryFormat format_of(const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return MemoryFormat::kContiguous;
  if (!DeviceTable::instance()
           .backend(a.device().type)
           .convolves_channels_last(a.dtype()))
    return MemoryFormat::kContiguous;
  const MemoryFormat first = suggested_format(a.sizes(), a.strides());
  return first != MemoryFormat::kContiguous
             ? first
             : suggested_format(b.sizes(), b.strides());
}

Tensor launch(const Kernel& kernel, IntSpan size, const Tensor& a,
              const Tensor& b, const Tensor& bias,
              const ConvAttributes& attributes) {
  autograd::NoGrad guard;
  const MemoryFormat format = format_of(a, b);
  const bool plain = format == MemoryFormat::kContiguous;
  const Tensor out = plain ? allocate(size, a.dtype(), a.device())
                           : allocate(size, format_strides(size, format),
                                      a.dtype(), a.device());
  const Tensor first = plain ? contiguous(a) : contiguous(a, format);
  const Tensor second = plain ? contiguous(b) : contiguous(b, format);
  const Tensor third = bias.defined() ? contiguous(bias) : bias;
  enqueue(kernel, {write(out), read(first), read(second), read(third)},
          attributes);
  return out;
}

}  // namespace

Tensor bias_gradient(const Tensor& g) {
  Dims dims{0};
  for (int64_t d = 2; d < g.dim(); ++d) dims.push_back(d);
  return sum(g, dims, false);
}

Tensor conv_forward(const char* name, const Tensor& x, const Tensor& w,
                    const Tensor& bias, IntSpan y_size,
                    const ConvAttributes& attributes) {
  static const Kernel& forward = kernel("conv_forward");
  const Tensor y = launch(forward, y_size, x, w, bias, attributes);
  if (!autograd::needs_grad(x, w, bias)) return y;
  autograd::record(
      name, y, {x, w, bias}, {x, w},
      [attributes](Backward& node, const Tensor& g) -> Tensors {
        const Tensor x = node.saved(0), w = node.saved(1);
        Tensors out(3);
        if (node.needs(0))
          out[0] =
              conv_data(kSecondOrder, g, conj(w), {}, x.sizes(), attributes);
        if (node.needs(1))
          out[1] = conv_weight(kSecondOrder, g, conj(x), w.sizes(), attributes);
        if (node.needs(2)) out[2] = flat_in_both(node, bias_gradient(g));
        return out;
      });
  return y;
}

Tensor conv_data(const char* name, const Tensor& y, const Tensor& w,
                 const Tensor& bias, IntSpan x_size,
                 const ConvAttributes& attributes) {
  static const Kernel& data = kernel("conv_data");
  const Tensor x = launch(data, x_size, y, w, bias, attributes);
  if (!autograd::needs_grad(y, w, bias)) return x;
  autograd::record(
      name, x, {y, w, bias}, {y, w},
      [attributes](Backward& node, const Tensor& g) -> Tensors {
        const Tensor y = node.saved(0), w = node.saved(1);
        Tensors out(3);
        if (node.needs(0))
          out[0] =
              conv_forward(kSecondOrder, g, conj(w), {}, y.sizes(), attributes);
        if (node.needs(1))
          out[1] = conv_weight(kSecondOrder, conj(y), g, w.sizes(), attributes);
        if (node.needs(2)) out[2] = flat_in_both(node, bias_gradient(g));
        return out;
      });
  return x;
}

Tensor conv_weight(const char* name, const Tensor& y, const Tensor& x,
                   IntSpan w_size, const ConvAttributes& attributes) {
  static const Kernel& weight = kernel("conv_weight");
  const Tensor w = launch(weight, w_size, y, x, {}, attributes);
  if (!autograd::needs_grad(y, x)) return w;
  autograd::record(name, w, {y, x}, {y, x},
                   [attributes](Backward& node, const Tensor& g) -> Tensors {
                     const Tensor y = node.saved(0), x = node.saved(1);
                     Tensors out(2);
                     if (node.needs(0))
                       out[0] = conv_forward(kSecondOrder, conj(x), g, {},
                                             y.sizes(), attributes);
                     if (node.needs(1))
                       out[1] = conv_data(kSecondOrder, conj(y), g, {},
                                          x.sizes(), attributes);
                     return out;
                   });
  return w;
}

}  // namespace hotaru
