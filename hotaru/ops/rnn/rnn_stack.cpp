#include "hotaru/ops/rnn/rnn_stack.h"

#include <algorithm>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;
using autograd::Save;
using autograd::saved_output;

constexpr char kNoSecondDerivative[] =
    "the derivative for '_cudnn_rnn_backward' is not implemented. Double "
    "backwards is not supported for CuDNN RNNs due to limitations in the CuDNN "
    "API. To run double backwards, please disable the CuDNN backend "
    "temporarily while running the forward pass of your RNN. For example: \n"
    "with torch.backends.cudnn.flags(enabled=False):\n"
    "    output = model(inputs)";

RnnStackRoom room_of(const RnnStack& stack, Device device) {
  static const Kernel& kernel_ = kernel("rnn_stack_room");
  RnnStackRoom room;
  if (kernel_.has(device.type))
    kernel_.on(device.type)(
        KernelCall(kernel_, {}, RnnStackQuestion{stack, device, &room}));
  return room;
}

Tensor like(const Tensor& t) {
  return t.defined() ? allocate(t.sizes(), t.dtype(), t.device()) : t;
}

Tensor dense(const Tensor& t) {
  return t.defined() ? contiguous(t) : t;
}

enum Saved : size_t { kX, kH0, kC0, kY, kWeights, kReserve, kParams };
enum Input : size_t { kOfX, kOfH0, kOfC0, kOfParams };

/// Gradient of each parameter.
Tensors weight_gradients(const RnnStack& stack, const Tensors& params,
                         const Tensor& x, const Tensor& h0, const Tensor& y,
                         const Tensor& reserve) {
  static const Kernel& kernel_ = kernel("rnn_stack_weights");
  Tensors out;
  for (const Tensor& p : params) out.push_back(like(p));
  std::vector<Operand> operands{read(x), read(h0), read(y), update(reserve)};
  for (const Tensor& t : out) operands.push_back(write(t));
  enqueue_list(kernel_, operands, stack);
  return out;
}

/// The library keeps numbers in the reserve for the first call of a backward
/// pass, which replaces them by what the second starts from.
Tensors gradient(Backward& node, const Tensors& grads, const RnnStack& stack,
                 size_t count) {
  static const Kernel& kernel_ = kernel("rnn_stack_data");
  HOTARU_CHECK(stack.training,
               "cudnn RNN backward can only be called in training mode");
  const Tensor x = node.saved(kX), h0 = node.saved(kH0);
  const Tensor c0 = node.saved(kC0), y = node.saved(kY);
  const Tensor weights = node.saved(kWeights);
  Tensors params;
  for (size_t i = 0; i < count; ++i) params.push_back(node.saved(kParams + i));
  Tensor reserve = node.saved(kReserve);
  Tensors inputs{x, h0, c0};
  inputs.insert(inputs.end(), params.begin(), params.end());
  inputs.insert(inputs.end(), grads.begin(), grads.end());
  Tensors out(kOfParams + count);
  {
    const autograd::NoGrad no_grad;
    if (node.keeps_saved()) reserve = clone(reserve);
    const Tensor gy = grads[0].defined() ? dense(grads[0]) : zeros_like(y);
    const Tensor gh = dense(grads[1]);
    const Tensor gc = grads.size() > 2 ? dense(grads[2]) : Tensor();
    out[kOfX] = like(x), out[kOfH0] = like(h0), out[kOfC0] = like(c0);
    enqueue(kernel_,
            {write(out[kOfX]), write(out[kOfH0]), write(out[kOfC0]),
             update(reserve), read(y), read(gy), read(h0), read(gh), read(c0),
             read(gc), read(weights)},
            stack);
    bool needs_weights = false;
    for (size_t i = 0; i < count; ++i)
      needs_weights |= node.needs(kOfParams + i);
    if (needs_weights) {
      const Tensors of_params =
          weight_gradients(stack, params, x, h0, y, reserve);
      std::copy(of_params.begin(), of_params.end(), out.begin() + kOfParams);
    }
  }
  if (autograd::needs_grad(inputs)) {
    Tensors made;
    for (const Tensor& t : out)
      if (t.defined()) made.push_back(t);
    autograd::record("CudnnRnnBackwardBackward0", made, inputs, {},
                     [](Backward&, const Tensors&) -> Tensors {
                       fail<NotImplementedError>(kNoSecondDerivative);
                     });
  }
  return out;
}

void record_stack(const RnnStack& stack, const StackOutput& out,
                  const Tensor& x, const Tensor& h0, const Tensor& c0,
                  const Tensors& params, const Tensor& weights,
                  const Tensor& reserve) {
  Tensors inputs{x, h0, c0};
  std::vector<Save> saved{x, h0, c0, saved_output(out.y), weights, reserve};
  for (const Tensor& p : params) {
    inputs.push_back(p);
    saved.emplace_back(p);
  }
  Tensors outputs{out.y, out.h};
  if (out.c.defined()) outputs.push_back(out.c);
  autograd::record(
      "CudnnRnnBackward0", outputs, inputs, saved,
      [stack, count = params.size()](Backward& node, const Tensors& grads) {
        return gradient(node, grads, stack, count);
      });
}

/// Fills in what the tensors say of the stack.
void describe(RnnStack& stack, const Tensor& x, const Tensor& h0,
              const Tensor& c0) {
  stack.dtype = x.dtype();
  stack.tf32 = x.dtype() == DType::kFloat32 && allows_tf32(Tf32::kConv);
  stack.input = x.size(-1);
  stack.output = h0.size(2);
  stack.cells = c0.defined() ? c0.size(2) : stack.output;
}

}  // namespace

std::optional<StackOutput> stack_by_library(RnnStack stack, const Tensor& x,
                                            const Tensor& h0, const Tensor& c0,
                                            std::span<const Tensor> params,
                                            bool train) {
  static const Kernel& kernel_ = kernel("rnn_stack");
  // Tangents go through the operators that the layers are made of.
  if (!kernel_.has(x.device().type) || autograd::dual_level_open())
    return std::nullopt;
  const Tensor lowered = autocast::lowered(x);
  describe(stack, lowered, h0, c0);
  if (stack.params_each() * stack.layers * stack.directions() !=
      int64_t(params.size()))
    return std::nullopt;  // a projection to as many numbers
  const bool wants = autograd::needs_grad(Tensors{x, h0, c0}) ||
                     std::any_of(params.begin(), params.end(), [](auto& p) {
                       return autograd::needs_grad(p);
                     });
  stack.training = wants && train;
  const RnnStackRoom room = room_of(stack, x.device());
  if (!room.serves) return std::nullopt;
  const auto taken = [](const Tensor& t) {
    return dense(autocast::lowered(t));
  };
  const Tensor input = dense(lowered), h = taken(h0), c = taken(c0);
  Tensors weights_of;
  for (const Tensor& p : params) weights_of.push_back(taken(p));
  // Autocast leaves float64 as it is, wherever it stands.
  const auto differs = [&](const Tensor& t) {
    return t.defined() && t.dtype() != input.dtype();
  };
  if (differs(h) || differs(c) ||
      std::any_of(weights_of.begin(), weights_of.end(), differs))
    return std::nullopt;
  Dims sizes(input.sizes());
  sizes.back() = stack.output * stack.directions();
  const StackOutput out{allocate(sizes, input.dtype(), input.device()), like(h),
                        like(c)};
  const Tensor weights = packed_weights(stack, room.weights, weights_of);
  Tensor reserve;
  if (stack.training)
    reserve = allocate(Dims{room.reserve}, DType::kUInt8, input.device());
  enqueue(kernel_,
          {write(out.y), write(out.h), write(out.c), write(reserve),
           read(input), read(h), read(c), read(weights)},
          stack);
  if (wants)
    record_stack(stack, out, input, h, c, weights_of, weights, reserve);
  return out;
}

}  // namespace hotaru
