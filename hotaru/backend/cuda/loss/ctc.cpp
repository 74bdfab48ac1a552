// Launching connectionist temporal classification; see params/ctc.h.
#include "hotaru/backend/common/loss/ctc.h"

#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/ctc.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatTypes> kForwardTypes{2, "ctc_loss_cpu"};
constexpr KernelTypes<FloatTypes> kBackwardTypes{0, "ctc_loss_backward_cpu"};

constinit const Functions forward("CtcForward"), backward("CtcBackward"),
    gradient("CtcGrad");

[[noreturn]] void raise_label(const FailureText& text, int64_t,
                              const int64_t* numbers) {
  fail("ctc_loss: target ", numbers[0], " of sequence ", numbers[1],
       " is not in the label range [0, ", text.dim, ")");
}

template <class T = void>
T* address_of(const Tensor& t) {
  return t.numel() > 0 ? static_cast<T*>(device_address(t)) : nullptr;
}

CtcParams params_of(const KernelCall& call, const CtcAttributes& a,
                    const Tensor& log_probs, const Tensor& targets) {
  constexpr int64_t kMost = int64_t{1} << 29;
  HOTARU_CHECK(a.steps < kMost && a.longest < kMost,
               "ctc_loss of 2^29 steps or labels and more is not implemented "
               "for CUDA");
  CtcParams p;
  p.log_probs = address_of(log_probs);
  p.targets = address_of<const int64_t>(targets);
  p.steps = a.steps;
  p.batch = a.batch;
  p.classes = a.classes;
  p.longest = a.longest;
  p.blank = a.blank;
  p.zero_infinity = a.zero_infinity;
  p.errors = watch_errors(call, {&raise_label, a.classes});
  return p;
}

/// f(count) with p as of so many sequences, until there were all of them.
template <class F>
void for_groups(const CtcAttributes& a, CtcParams& p, const F& f) {
  for (; p.first < a.batch; p.first += CtcParams::kMost) {
    const auto count = std::min<int64_t>(CtcParams::kMost, a.batch - p.first);
    for (int64_t i = 0; i < count; ++i) {
      const auto n = size_t(p.first + i);
      p.sequences[i] = {int32_t(a.input_lengths[n]),
                        int32_t(a.target_lengths[n]), a.offsets[n]};
    }
    f(unsigned(count));
  }
}

void ctc_loss(const KernelCall& call) {
  check_types<kForwardTypes>(call);
  const auto& a = call.attributes<CtcAttributes>();
  if (a.batch == 0) return;
  const Tensor& log_probs = call.tensor(2);
  CtcParams p = params_of(call, a, log_probs, call.tensor(3));
  p.losses = device_address(call.tensor(0));
  p.log_alpha = address_of(call.tensor(1));
  for_groups(a, p, [&](unsigned count) {
    launch(forward.of(log_probs.dtype()), {count}, kBlock, p);
  });
}

void ctc_loss_grad(const KernelCall& call) {
  check_types<kBackwardTypes>(call);
  const auto& a = call.attributes<CtcAttributes>();
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  CtcParams p = params_of(call, a, call.tensor(2), call.tensor(3));
  p.gradient = device_address(out);
  p.grad = device_address(call.tensor(1));
  p.losses = device_address(call.tensor(4));
  p.log_alpha = device_address(call.tensor(5));
  const auto most = size_t(std::min<int64_t>(CtcParams::kMost, a.batch));
  const size_t states = size_t(a.steps) * size_t(p.width());
  const Workspace beta(most * states * itemsize(out.dtype()));
  const Workspace links(most * size_t(a.longest + 1) * sizeof(int32_t));
  p.log_beta = beta.data();
  p.links = static_cast<int32_t*>(links.data());
  for_groups(a, p, [&](unsigned count) {
    launch(backward.of(out.dtype()), {count}, kBlock, p);
    launch(gradient.of(out.dtype()), {unsigned(a.steps), count}, kBlock, p);
  });
}

HOTARU_KERNEL(kCUDA, "ctc_loss", ctc_loss, check_types<kForwardTypes>);
HOTARU_KERNEL(kCUDA, "ctc_loss_grad", ctc_loss_grad,
              check_types<kBackwardTypes>);

}  // namespace
}  // namespace hotaru::cuda
