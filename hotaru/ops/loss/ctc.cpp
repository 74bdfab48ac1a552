// Connectionist temporal classification.
#include "hotaru/backend/common/loss/ctc.h"

#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/loss/loss.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

CtcAttributes lay_out(const Tensor& log_probs, const Tensor& targets,
                      IntSpan input_lengths, IntSpan target_lengths,
                      int64_t blank, bool zero_infinity) {
  HOTARU_CHECK(log_probs.numel() > 0, "log_probs tensor must not be empty");
  CtcAttributes a;
  a.steps = log_probs.size(0);
  a.batch = log_probs.size(1);
  a.classes = log_probs.size(2);
  a.blank = blank;
  a.zero_infinity = zero_infinity;
  HOTARU_CHECK(blank >= 0 && blank < a.classes, "blank must be in label range");
  HOTARU_CHECK(int64_t(input_lengths.size()) == a.batch,
               "input_lengths must be of size batch_size");
  HOTARU_CHECK(int64_t(target_lengths.size()) == a.batch,
               "target_lengths must be of size batch_size");
  HOTARU_CHECK(is_integral(targets.dtype()),
               "ctc_loss: targets must be integers, got ",
               scalar_type_name(targets.dtype()));
  a.input_lengths.assign(input_lengths.begin(), input_lengths.end());
  a.target_lengths.assign(target_lengths.begin(), target_lengths.end());
  HOTARU_CHECK(targets.dim() == 1 || targets.dim() == 2,
               "ctc_loss: targets must be 1- or 2-dimensional, got ",
               targets.dim());
  HOTARU_CHECK(targets.dim() == 1 || targets.size(0) == a.batch,
               "ctc_loss: expected targets of ", a.batch,
               " sequences, but got size ", shape_text(targets.sizes()));
  int64_t used = 0;
  for (size_t n = 0; n < input_lengths.size(); ++n) {
    const int64_t steps = input_lengths[n], labels = target_lengths[n];
    HOTARU_CHECK(steps >= 0,
                 "Expected input_lengths to have value at least 0, "
                 "but got value ",
                 steps);
    HOTARU_CHECK(steps <= a.steps,
                 "Expected input_lengths to have value at "
                 "most ",
                 a.steps, ", but got value ", steps,
                 " (while checking arguments for ctc_loss_allocate_outputs)");
    HOTARU_CHECK(labels >= 0,
                 "Expected target_lengths to have value at least "
                 "0, but got value ",
                 labels);
    a.offsets.push_back(targets.dim() == 1 ? used
                                           : int64_t(n) * targets.size(1));
    const int64_t room =
        targets.dim() == 1 ? targets.size(0) - used : targets.size(1);
    HOTARU_CHECK(labels <= room, "Expected tensor to have size at least ",
                 labels, " at dimension 1, but got size ", room,
                 " for argument #2 'targets' (while checking arguments for "
                 "ctc_loss_allocate_outputs)");
    used += labels;
    a.longest = std::max(a.longest, labels);
  }
  return a;
}

/// The loss of each sequence.
Tensor losses(const Tensor& log_probs, const Tensor& targets,
              const CtcAttributes& a) {
  static const Kernel& forward = kernel("ctc_loss");
  static const Kernel& backward = kernel("ctc_loss_grad");
  const DType dtype = log_probs.dtype();
  const Device device = log_probs.device();
  const Tensor out = allocate(Dims{a.batch}, dtype, device);
  const Tensor alpha =
      allocate(Dims{a.batch, a.steps, 2 * a.longest + 1}, dtype, device);
  Tensor x, labels;
  {
    autograd::NoGrad guard;
    x = contiguous(log_probs);
    labels = contiguous(to(targets, DType::kInt64));
    enqueue(forward, {write(out), write(alpha), read(x), read(labels)}, a);
  }
  if (!autograd::needs_grad(log_probs)) return out;
  autograd::record(
      "CtcLossBackward0", out, {log_probs},
      {log_probs, labels, autograd::saved_output(out), alpha},
      [a](autograd::Backward& b, const Tensor& g) -> Tensors {
        const Tensor log_probs = b.saved(0);
        const Tensor gx =
            allocate(log_probs.sizes(), log_probs.dtype(), log_probs.device());
        {
          autograd::NoGrad guard;
          const Tensor x = contiguous(log_probs), grad = contiguous(g);
          enqueue(backward,
                  {write(gx), read(grad), read(x), read(b.saved(1)),
                   read(b.saved(2)), read(b.saved(3))},
                  a);
        }
        refuse_gradient("_ctc_loss_backward", gx, {g, log_probs});
        return {gx};
      });
  return out;
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                IntSpan input_lengths, IntSpan target_lengths, int64_t blank,
                int64_t reduction, bool zero_infinity) {
  HOTARU_CHECK(log_probs.dim() == 2 || log_probs.dim() == 3,
               "ctc_loss: log_probs must be [T, N, C] or [T, C], got ",
               shape_text(log_probs.sizes()));
  const bool batched = log_probs.dim() == 3;
  const Tensor x = batched ? log_probs : unsqueeze(log_probs, 1);
  Tensor out = losses(
      x, targets,
      lay_out(x, targets, input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity)
    out = masked_fill(out, eq(out, std::numeric_limits<double>::infinity()), 0);
  if (reduction == kMean) {
    const Tensor lengths =
        allocate(Dims{int64_t(target_lengths.size())}, out.dtype(), Device{});
    for (size_t n = 0; n < target_lengths.size(); ++n)
      fill_(select(lengths, 0, int64_t(n)),
            std::max<int64_t>(target_lengths[n], 1));
    return mean(out / to(lengths, {}, out.device()));
  }
  if (reduction == kSum) return sum(out);
  return batched ? out : squeeze(out, 0);
}

/// Lengths as a tensor, which has to be read now.
Dims lengths_of(const char* what, const Tensor& t) {
  HOTARU_CHECK(is_integral(t.dtype()), what, " must be integral");
  const std::vector<int64_t> lengths = host_integers(t, what);
  return Dims(lengths);
}

Tensor ctc_loss_tensors(const Tensor& log_probs, const Tensor& targets,
                        const Tensor& input_lengths,
                        const Tensor& target_lengths, int64_t blank,
                        int64_t reduction, bool zero_infinity) {
  return ctc_loss(log_probs, targets,
                  lengths_of("input_lengths", input_lengths),
                  lengths_of("target_lengths", target_lengths), blank,
                  reduction, zero_infinity);
}

}  // namespace

HOTARU_OP(
    "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, "
    "int[] target_lengths, int blank=0, int reduction=Mean, "
    "bool zero_infinity=False) -> Tensor",
    ctc_loss);
HOTARU_OP(
    "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, "
    "Tensor target_lengths, int blank=0, int reduction=Mean, "
    "bool zero_infinity=False) -> Tensor",
    ctc_loss_tensors);

}  // namespace hotaru
