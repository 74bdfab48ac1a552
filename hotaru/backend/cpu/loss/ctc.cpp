// The forward-backward algorithm of A. Graves et al., Connectionist temporal
// classification, ICML 2006, in logarithms.
#include "hotaru/backend/common/loss/ctc.h"

#include <cmath>
#include <limits>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise/vector_math.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

/// out[s] = log(e^near[s] + e^next[s] + e^far[s]) + emission[s], without far[s]
/// where gate[s] is 0. In the largest one's terms, so that nothing overflows.
template <class T>
void step(const T* near, const T* next, const T* far, const T* gate,
          const T* emission, int64_t n, T* out) {
  HOTARU_INDEPENDENT
  for (int64_t s = 0; s < n; ++s) {
    const T a = near[s], b = next[s], any = far[s];
    const T c = gate[s] != T(0) ? any : kNever<T>;
    const T ab = a > b ? a : b, largest = ab > c ? ab : c;
    const T high = largest == kNever<T> ? T(0) : largest;
    const T sum =
        vmath::exp(a - high) + vmath::exp(b - high) + vmath::exp(c - high);
    out[s] = high + vmath::log(sum) + emission[s];
  }
}

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
  int64_t n, steps, states;
  const T* log_probs;
  std::vector<int64_t> label;
  std::vector<T> skips;  // 1: state s may follow s - 2, their labels differ
  std::vector<T> emission;

  Sequence(const CtcAttributes& a, int64_t n, const T* log_probs,
           const int64_t* targets)
      : a(a),
        n(n),
        steps(a.input_lengths[n]),
        states(2 * a.target_lengths[n] + 1),
        log_probs(log_probs),
        label(size_t(states), a.blank),
        skips(size_t(states) + kPad),
        emission(size_t(states)) {
    const int64_t* own = targets + a.offsets[n];
    for (size_t s = 1; s < label.size(); s += 2) {
      label[s] = own[s / 2];
      HOTARU_CHECK(label[s] >= 0 && label[s] < a.classes, "ctc_loss: target ",
                   label[s], " of sequence ", n,
                   " is not in the label range [0, ", a.classes, ")");
      skips[s] = s > 2 && label[s] != label[s - 2];
    }
  }

  int64_t width() const { return 2 * a.longest + 1; }
  int64_t row(int64_t t) const { return (t * a.batch + n) * a.classes; }
  const T* emissions(int64_t t) {
    for (size_t s = 0; s < label.size(); ++s)
      emission[s] = log_probs[row(t) + label[s]];
    return emission.data();
  }

  T forward(T* alpha) {
    if (steps == 0) return states == 1 ? T(0) : -kNever<T>;
    // Before the first state and before the first step nothing is possible.
    std::vector<T> old(size_t(states) + kPad, kNever<T>);
    T* const was = old.data() + kPad;
    for (int64_t t = 0; t < steps; ++t) {
      T* now = alpha + t * width();
      const T* said = emissions(t);
      if (t == 0)
        for (int64_t s = 0; s < states; ++s)
          now[s] = s < 2 ? said[s] : kNever<T>;
      else
        step(was, was - 1, was - 2, skips.data(), said, states, now);
      std::copy_n(now, states, was);
    }
    return -(states > 1 ? log_sum(was[states - 1], was[states - 2]) : was[0]);
  }

  /// gradient: this sequence's rows of [steps, batch, classes], zero on entry.
  void backward(const T* alpha, T loss, T g, T* gradient) {
    std::vector<T> beta(size_t(states) + kPad, kNever<T>), next = beta;
    std::vector<T> sums(size_t(a.classes));
    for (int64_t t = steps; t-- > 0;) {
      const T* said = emissions(t);
      if (t == steps - 1) {
        for (int64_t s = std::max<int64_t>(0, states - 2); s < states; ++s)
          beta[size_t(s)] = said[s];
      } else {
        const T* was = beta.data();
        step(was, was + 1, was + 2, skips.data() + 2, said, states,
             next.data());
        std::swap(beta, next);
      }
      std::fill(sums.begin(), sums.end(), kNever<T>);
      for (size_t s = 0; s < label.size(); ++s) {
        T& sum = sums[size_t(label[s])];
        sum = log_sum(sum, alpha[t * width() + int64_t(s)] + beta[s]);
      }
      for (int64_t c = 0; c < a.classes; ++c) {
        const T lp = log_probs[row(t) + c];
        // For log_probs out of log_softmax: d loss / d logits.
        gradient[row(t) + c] =
            g * (std::exp(lp) - std::exp(sums[size_t(c)] + loss - lp));
      }
    }
  }

 private:
  static constexpr size_t kPad = 2;
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
      Sequence<T> s(a, n, log_probs.data<T>(), targets.data<int64_t>());
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
      Sequence<T> s(a, n, log_probs.data<T>(), targets.data<int64_t>());
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
