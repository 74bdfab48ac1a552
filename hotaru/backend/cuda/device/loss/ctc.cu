// The forward-backward algorithm of A. Graves et al., Connectionist temporal
// classification, ICML 2006, in logarithms; a thread for each state of a
// sequence. See params/ctc.h for how it is launched.
#include <limits>

#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/params/ctc.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <class T>
inline constexpr T kNever = -std::numeric_limits<T>::infinity();

struct LogSum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    const T high = a > b ? a : b, low = a > b ? b : a;
    // A NaN is low, or high is one.
    if (high == kNever<T> && low == low) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

/// One sequence: states 0 .. 2 L are blank, label, blank, label ... blank.
template <class T>
struct Sequence {
  const CtcParams& p;
  int64_t n;
  int32_t steps, labels, states;
  const T* log_probs;
  const int64_t* targets;

  __device__ Sequence(const CtcParams& p, uint32_t which)
      : p(p),
        n(p.first + which),
        steps(p.sequences[which].steps),
        labels(p.sequences[which].labels),
        states(2 * labels + 1),
        log_probs(static_cast<const T*>(p.log_probs)),
        targets(p.targets + p.sequences[which].offset) {}

  /// Labels outside the classes count as blank.
  __device__ int64_t label(int32_t s) const {
    if (s % 2 == 0) return p.blank;
    const int64_t c = targets[s / 2];
    return uint64_t(c) < uint64_t(p.classes) ? c : p.blank;
  }
  __device__ void check_labels() const {
    for (int32_t i = threadIdx.x; i < labels; i += kBlock)
      if (uint64_t(targets[i]) >= uint64_t(p.classes))
        report_error(p.errors, 0, targets[i], n);
  }
  /// The classes' log_probs at a step.
  __device__ int64_t row(int64_t t) const {
    return (t * p.batch + n) * p.classes;
  }
  __device__ T emission(int64_t t, int32_t s) const {
    return log_probs[row(t) + label(s)];
  }
  /// True if state s may follow s - 2: labels that differ.
  __device__ bool skips(int32_t s) const {
    return s % 2 == 1 && s >= 2 && label(s) != label(s - 2);
  }
  __device__ T* alpha() const {
    return static_cast<T*>(p.log_alpha) + n * p.steps * p.width();
  }
  __device__ T* beta() const {
    return static_cast<T*>(p.log_beta) + (n - p.first) * p.steps * p.width();
  }
  __device__ int32_t* links() const {
    return p.links + (n - p.first) * p.longest;
  }
};

template <class T>
__device__ void ctc_forward(const CtcParams& p) {
  const Sequence<T> x(p, blockIdx.x);
  const LogSum log_sum;
  x.check_labels();
  T* now = x.alpha();
  for (int32_t t = 0; t < x.steps; ++t, now += p.width()) {
    const T* old = now - p.width();
    for (int32_t s = threadIdx.x; s < x.states; s += kBlock) {
      T sum = t == 0 ? (s < 2 ? T(0) : kNever<T>) : old[s];
      if (t > 0 && s >= 1) sum = log_sum(sum, old[s - 1]);
      if (t > 0 && x.skips(s)) sum = log_sum(sum, old[s - 2]);
      now[s] = sum + x.emission(t, s);
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  T loss = x.labels == 0 ? T(0) : -kNever<T>;
  if (x.steps > 0) {
    const T* last = now - p.width();
    loss = -(x.states > 1 ? log_sum(last[x.states - 1], last[x.states - 2])
                          : last[0]);
  }
  static_cast<T*>(p.losses)[x.n] = loss;
}

// Link of a label, beside where the next label of its class stands, or kNoNext:
// kFollows if it is not the first one, so that somebody else counts it. Those
// of blank's class count as blank.
constexpr int32_t kNoNext = 0x3fffffff;
constexpr int32_t kFollows = 0x40000000;

template <class T>
__device__ void link_labels(const Sequence<T>& x) {
  for (int32_t i = threadIdx.x; i < x.labels; i += kBlock) {
    const int64_t c = x.label(2 * i + 1);
    bool follows = c == x.p.blank;
    for (int32_t j = 0; j < i && !follows; ++j)
      follows = x.label(2 * j + 1) == c;
    int32_t next = i + 1;
    while (next < x.labels && x.label(2 * next + 1) != c) ++next;
    if (next == x.labels) next = kNoNext;
    x.links()[i] = next | (follows ? kFollows : 0);
  }
}

template <class T>
__device__ void ctc_backward(const CtcParams& p) {
  const Sequence<T> x(p, blockIdx.x);
  const LogSum log_sum;
  x.check_labels();
  link_labels(x);
  for (int32_t t = x.steps - 1; t >= 0; --t) {
    T* now = x.beta() + t * p.width();
    const T* after = now + p.width();
    const bool last = t == x.steps - 1;
    for (int32_t s = threadIdx.x; s < x.states; s += kBlock) {
      T sum = last ? (s + 2 >= x.states ? T(0) : kNever<T>) : after[s];
      if (!last && s + 1 < x.states) sum = log_sum(sum, after[s + 1]);
      if (!last && s + 2 < x.states && x.skips(s + 2))
        sum = log_sum(sum, after[s + 2]);
      now[s] = sum + x.emission(t, s);
    }
    __syncthreads();
  }
}

template <class T>
__device__ void ctc_grad(const CtcParams& p) {
  __shared__ T memory[kBlock];
  const Sequence<T> x(p, blockIdx.y);
  const int32_t t = blockIdx.x;
  const LogSum log_sum;
  const T loss = static_cast<const T*>(p.losses)[x.n];
  T* gradient = static_cast<T*>(p.gradient) + x.row(t);
  if (t >= x.steps || (p.zero_infinity && loss == -kNever<T>)) {
    for (int64_t c = threadIdx.x; c < p.classes; c += kBlock)
      gradient[c] = T(0);
    return;
  }
  const T* log_probs = x.log_probs + x.row(t);
  const T g = static_cast<const T*>(p.grad)[x.n];
  const T *alpha = x.alpha() + t * p.width(), *beta = x.beta() + t * p.width();
  // For log_probs out of log_softmax: d loss / d logits.
  const auto store = [&](int64_t c, T sum) {
    const T lp = log_probs[c];
    gradient[c] = g * (std::exp(lp) - std::exp(sum + loss - lp));
  };
  for (int64_t c = threadIdx.x; c < p.classes; c += kBlock) store(c, kNever<T>);
  T blank = kNever<T>;
  for (int32_t s = threadIdx.x; s < x.states; s += kBlock)
    if (x.label(s) == p.blank) blank = log_sum(blank, alpha[s] + beta[s]);
  // Its barriers also come before what follows.
  blank = Team{kBlock, false}.share(blank, memory, log_sum);
  if (threadIdx.x == 0) store(p.blank, blank);
  for (int32_t i = threadIdx.x; i < x.labels; i += kBlock) {
    if (x.links()[i] & kFollows) continue;
    T sum = kNever<T>;
    for (int32_t j = i; j != kNoNext; j = x.links()[j] & kNoNext)
      sum = log_sum(sum, alpha[2 * j + 1] + beta[2 * j + 1]);
    store(x.label(2 * i + 1), sum);
  }
}

}  // namespace

#define HOTARU_CTC(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(CtcForward_##suffix, CtcParams, ctc_forward<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(CtcBackward_##suffix, CtcParams, ctc_backward<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(CtcGrad_##suffix, CtcParams, ctc_grad<T>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_CTC, )

}  // namespace hotaru::cuda
