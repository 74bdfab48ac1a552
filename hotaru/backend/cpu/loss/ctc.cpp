// The forward-backward algorithm of A. Graves et al., Connectionist temporal
// classification, ICML 2006, in logarithms.
#include "hotaru/backend/common/loss/ctc.h"

#include <cmath>
#include <limits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <class T>
T log_sum(T a, T b) {
  const T high = a > b ? a : b, low = a > b ? b : a;
  // A NaN is low, or high is one.
  if (high == kNever<T> && low == low) return high;
  return high + std::log1p(std::exp(low - high));
}

/// One sequence: states 0 .. 2 L are blank, label, blank, label ... blank.
template <class T>
struct Sequence {
  const CtcAttributes& a;
  int64_t n, steps, labels, states;
  const T* log_probs;
  const int64_t* targets;

  Sequence(const CtcAttributes& a, int64_t n, const T* log_probs,
           const int64_t* targets)
      : a(a),
        n(n),
        steps(a.input_lengths[n]),
        labels(a.target_lengths[n]),
        states(2 * labels + 1),
        log_probs(log_probs),
        targets(targets + a.offsets[n]) {
    for (int64_t i = 0; i < labels; ++i)
      HOTARU_CHECK(this->targets[i] >= 0 && this->targets[i] < a.classes,
                   "ctc_loss: target ", this->targets[i], " of sequence ", n,
                   " is not in the label range [0, ", a.classes, ")");
  }
  int64_t label(int64_t s) const { return s % 2 ? targets[s / 2] : a.blank; }
  T emission(int64_t t, int64_t s) const {
    return log_probs[(t * a.batch + n) * a.classes + label(s)];
  }
  /// Whether state s may follow s - 2: labels that differ.
  bool skips(int64_t s) const {
    return s % 2 == 1 && s >= 2 && label(s) != label(s - 2);
  }
  int64_t width() const { return 2 * a.longest + 1; }

  T forward(T* alpha) const {
    if (steps == 0) return labels == 0 ? T(0) : -kNever<T>;
    for (int64_t t = 0; t < steps; ++t) {
      T* now = alpha + t * width();
      const T* old = now - width();
      for (int64_t s = 0; s < states; ++s) {
        T sum = t == 0 ? (s < 2 ? T(0) : kNever<T>) : old[s];
        if (t > 0 && s >= 1) sum = log_sum(sum, old[s - 1]);
        if (t > 0 && skips(s)) sum = log_sum(sum, old[s - 2]);
        now[s] = sum + emission(t, s);
      }
    }
    const T* last = alpha + (steps - 1) * width();
    return -(states > 1 ? log_sum(last[states - 1], last[states - 2])
                        : last[0]);
  }

  /// gradient: this sequence's rows of [steps, batch, classes], zero on entry.
  void backward(const T* alpha, T loss, T g, T* gradient) const {
    std::vector<T> beta(static_cast<size_t>(states));
    std::vector<T> sums(static_cast<size_t>(a.classes));
    for (int64_t t = steps; t-- > 0;) {
      // In ascending order s + 1 and s + 2 still hold the step after.
      for (int64_t s = 0; s < states; ++s) {
        T sum = t == steps - 1 ? (s + 2 >= states ? T(0) : kNever<T>) : beta[s];
        if (t < steps - 1 && s + 1 < states) sum = log_sum(sum, beta[s + 1]);
        if (t < steps - 1 && s + 2 < states && skips(s + 2))
          sum = log_sum(sum, beta[s + 2]);
        beta[s] = sum + emission(t, s);
      }
      std::fill(sums.begin(), sums.end(), kNever<T>);
      for (int64_t s = 0; s < states; ++s) {
        T& sum = sums[label(s)];
        sum = log_sum(sum, alpha[t * width() + s] + beta[s]);
      }
      const int64_t row = (t * a.batch + n) * a.classes;
      for (int64_t c = 0; c < a.classes; ++c) {
        const T lp = log_probs[row + c];
        // For log_probs out of log_softmax: d loss / d logits.
        gradient[row + c] = g * (std::exp(lp) - std::exp(sums[c] + loss - lp));
      }
    }
  }
};

template <class F>
void for_sequences(const CtcAttributes& a, const F& f) {
  const int64_t work = a.steps * (2 * a.longest + 1);
  parallel_for(0, a.batch,
               std::max<int64_t>(1, 1000 / std::max<int64_t>(work, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t n = begin; n < end; ++n) f(n);
               });
}

constexpr KernelTypes<FloatTypes> kForwardTypes{2, "ctc_loss_cpu"};

void ctc_loss(const KernelCall& call) {
  const auto& a = call.attributes<CtcAttributes>();
  const Tensor &losses = call.tensor(0), &alpha = call.tensor(1);
  const Tensor &log_probs = call.tensor(2), &targets = call.tensor(3);
  kForwardTypes.visit(call, [&]<class T>() {
    for_sequences(a, [&](int64_t n) {
      const Sequence<T> s(a, n, log_probs.data<T>(), targets.data<int64_t>());
      losses.data<T>()[n] =
          s.forward(alpha.data<T>() + n * a.steps * s.width());
    });
  });
}

constexpr KernelTypes<FloatTypes> kBackwardTypes{0, "ctc_loss_backward_cpu"};

void ctc_loss_grad(const KernelCall& call) {
  const auto& a = call.attributes<CtcAttributes>();
  const Tensor &out = call.tensor(0), &g = call.tensor(1);
  const Tensor &log_probs = call.tensor(2), &targets = call.tensor(3);
  const Tensor &losses = call.tensor(4), &alpha = call.tensor(5);
  kBackwardTypes.visit(call, [&]<class T>() {
    std::fill_n(out.data<T>(), out.numel(), T(0));
    for_sequences(a, [&](int64_t n) {
      const Sequence<T> s(a, n, log_probs.data<T>(), targets.data<int64_t>());
      const T loss = losses.data<T>()[n];
      if (a.zero_infinity && loss == -kNever<T>) return;
      s.backward(alpha.data<T>() + n * a.steps * s.width(), loss,
                 g.data<T>()[n], out.data<T>());
    });
  });
}

HOTARU_KERNEL(kCPU, "ctc_loss", ctc_loss, check_types<kForwardTypes>);
HOTARU_KERNEL(kCPU, "ctc_loss_grad", ctc_loss_grad,
              check_types<kBackwardTypes>);

}  // namespace
}  // namespace hotaru::cpu
