#include "hotaru/backend/common/norm/norm.h"

#include <cmath>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/norm/norm_simd.h"
#include "hotaru/backend/cpu/wide.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// A parameter vector of T or, beside 16-bit T, of float; reads as the type of
// arithmetic.
template <class T>
class Parameter {
 public:
  using A = OpMath<T>;

  Parameter(const Tensor& t, A missing) : missing_(missing) {
    if (!t.defined()) return;
    if (t.dtype() == kDTypeOf<T>)
      same_ = t.data<T>();
    else
      wide_ = t.data<A>();
  }
  A operator[](int64_t i) const {
    return same_ ? A(same_[i]) : wide_ ? wide_[i] : missing_;
  }

 private:
  const T* same_ = nullptr;
  const A* wide_ = nullptr;
  A missing_;
};

template <class T>
void store(const Tensor& t, int64_t i, OpMath<T> value) {
  if (!t.defined()) return;
  if (t.dtype() == kDTypeOf<T>)
    t.data<T>()[i] = T(value);
  else
    t.data<OpMath<T>>()[i] = value;
}

// Rows of n elements that are worth a thread.
int64_t rows_grain(int64_t n) {
  return std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, n));
}

template <class F>
void for_rows(int64_t rows, int64_t n, const F& f) {
  parallel_for(0, rows, rows_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r);
  });
}

// Sums in sixteen lanes, so that the compiler vectorises and rounding
// errors stay small.
template <class F>
auto block_sum(int64_t i, int64_t n, const F& f) {
  using A = decltype(f(0));
  constexpr int64_t kLanes = 16;
  A lanes[kLanes] = {};
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += f(i + l);
  A sum = A(0);
  for (; i < n; ++i) sum += f(i);
  for (int64_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

// Blocks are added up in double: a row may have millions of elements.
template <class F>
auto lane_sum(int64_t n, const F& f) {
  using A = decltype(f(0));
  constexpr int64_t kBlock = 1 << 15;
  if (n <= kBlock) return block_sum(0, n, f);
  double sum = 0;
  for (int64_t i = 0; i < n; i += kBlock)
    sum += double(block_sum(i, std::min(n, i + kBlock), f));
  return A(sum);
}

// Calls f(weight number, element) for each element of a row.
template <class F>
void for_weights(const RowNormAttributes& a, int64_t r, const F& f) {
  const int64_t base = r % a.period * a.step;
  if (a.inner == 1) {
    for (int64_t j = 0; j < a.columns; ++j) f(base + j, j);
    return;
  }
  for (int64_t w = base, j = 0; j < a.columns; ++w)
    for (const int64_t end = j + a.inner; j < end; ++j) f(w, j);
}

/// A contiguous vector of T, or nothing.
template <class T>
bool has_type(const Tensor& t) {
  return !t.defined() || t.dtype() == kDTypeOf<T>;
}

/// Everything in one type that has vectors.
template <class T>
void simd_row_norm(const KernelCall& call) {
  const auto& a = call.attributes<RowNormAttributes>();
  const Tensor &weight = call.tensor(4), &bias = call.tensor(5);
  const T* x = call.tensor(3).data<T>();
  T *out = call.tensor(0).data<T>(), *means = call.tensor(1).data<T>(),
    *rstds = call.tensor(2).data<T>();
  const T* w = weight.defined() ? weight.data<T>() : nullptr;
  const T* b = bias.defined() ? bias.data<T>() : nullptr;
  const int64_t n = a.columns;
  for_rows(a.rows, n, [&](int64_t r) {
    const int64_t first = r % a.period * a.step;
    norm_row(x + r * n, out + r * n, n, w ? w + first : nullptr,
             b ? b + first : nullptr, a.inner, T(a.eps), means + r, rstds + r);
  });
}

/// Parameters as floats.
template <class T>
std::vector<float> parameters(const Tensor& t) {
  if (!t.defined()) return {};
  std::vector<float> out(size_t(t.numel()));
  if (t.dtype() == DType::kFloat32)
    std::copy_n(t.data<float>(), t.numel(), out.data());
  else
    widen(t.data<T>(), out.data(), t.numel());
  return out;
}

/// Rows of 16-bit floats, as floats one at a time.
template <class T>
void reduced_row_norm(const KernelCall& call) {
  const auto& a = call.attributes<RowNormAttributes>();
  const std::vector<float> weights = parameters<T>(call.tensor(4)),
                           biases = parameters<T>(call.tensor(5));
  const T* x = call.tensor(3).data<T>();
  T* out = call.tensor(0).data<T>();
  float *means = call.tensor(1).data<float>(),
        *rstds = call.tensor(2).data<float>();
  const int64_t n = a.columns;
  parallel_for(0, a.rows, rows_grain(n), [&](int64_t begin, int64_t end) {
    std::vector<float> row(static_cast<size_t>(n));
    for (int64_t r = begin; r < end; ++r) {
      const int64_t first = r % a.period * a.step;
      widen(x + r * n, row.data(), n);
      norm_row(row.data(), row.data(), n,
               weights.empty() ? nullptr : weights.data() + first,
               biases.empty() ? nullptr : biases.data() + first, a.inner,
               float(a.eps), means + r, rstds + r);
      narrow(row.data(), out + r * n, n);
    }
  });
}

template <class T>
void row_norm_of(const KernelCall& call) {
  using A = OpMath<T>;
  const auto& a = call.attributes<RowNormAttributes>();
  if constexpr (kIsReduced<T>) return reduced_row_norm<T>(call);
  if constexpr (std::is_same_v<T, A>) {
    if (has_type<T>(call.tensor(4)) && has_type<T>(call.tensor(5)))
      return simd_row_norm<T>(call);
  }
  const T* x = call.tensor(3).data<T>();
  T* out = call.tensor(0).data<T>();
  A *means = call.tensor(1).data<A>(), *rstds = call.tensor(2).data<A>();
  const Parameter<T> weight(call.tensor(4), A(1)), bias(call.tensor(5), A(0));
  const bool plain = !call.tensor(4).defined() && !call.tensor(5).defined();
  const int64_t n = a.columns;
  for_rows(a.rows, n, [&](int64_t r) {
    const T* from = x + r * n;
    T* to = out + r * n;
    // The mean is corrected by what its rounding left over.
    const A rough = lane_sum(n, [&](int64_t i) { return A(from[i]); }) / A(n);
    const A rest = lane_sum(n, [&](int64_t i) { return A(from[i]) - rough; });
    const A mean = rough + rest / A(n);
    const A squares = lane_sum(n, [&](int64_t i) {
      const A d = A(from[i]) - mean;
      return d * d;
    });
    const A rstd = A(1) / std::sqrt(squares / A(n) + A(a.eps));
    means[r] = mean;
    rstds[r] = rstd;
    if (plain)
      for (int64_t i = 0; i < n; ++i) to[i] = T((A(from[i]) - mean) * rstd);
    else
      for_weights(a, r, [&](int64_t w, int64_t i) {
        to[i] = T((A(from[i]) - mean) * rstd * weight[w] + bias[w]);
      });
  });
}

/// A row as the type of arithmetic: itself, or widened into `room`.
template <class A>
const A* wide_row(const A* x, int64_t, A*) {
  return x;
}
template <class T>
const float* wide_row(const T* x, int64_t n,
                      float* room) requires kIsReduced<T> {
  widen(x, room, n);
  return room;
}

/// The gradients of rows of T.
template <class T>
class RowGradients {
 public:
  using A = OpMath<T>;

  explicit RowGradients(const KernelCall& call)
      : a_(call.attributes<RowNormAttributes>()),
        gx_(call.tensor(0)),
        g_(call.tensor(3).data<T>()),
        x_(call.tensor(4).data<T>()),
        means_(call.tensor(5).data<A>()),
        rstds_(call.tensor(6).data<A>()),
        weights_(call.tensor(7)) {
    if constexpr (kIsReduced<T>)
      if (weights_.defined() && has_type<T>(weights_))
        weights_ = widened(weights_.data<T>(), weights_.numel());
    if (weights_.defined()) weight_ = weights_.data<A>();
  }

  /// Rows [begin, end); weights and biases: where to add theirs, or null.
  void run(int64_t begin, int64_t end, A* weights, A* biases) const {
    const int64_t n = a_.columns;
    std::vector<A> room(size_t(kIsReduced<T> ? 3 * n : 0));
    A* const made = room.data() + (kIsReduced<T> ? 2 * n : 0);
    for (int64_t r = begin; r < end; ++r) {
      const A *const grad = wide_row(g_ + r * n, n, room.data()),
                     *const row =
                         wide_row(x_ + r * n, n,
                                  kIsReduced<T> ? room.data() + n : nullptr);
      const int64_t first = r % a_.period * a_.step;
      if (weights)
        add_norm_row(grad, row, n, a_.inner, means_[r], rstds_[r],
                     weights + first, biases + first);
      if (!gx_.defined()) continue;
      T* const to = gx_.data<T>() + r * n;
      const A* const weight = weight_ ? weight_ + first : nullptr;
      if constexpr (kIsReduced<T>) {
        norm_row_grad(grad, row, made, n, weight, a_.inner, means_[r],
                      rstds_[r]);
        narrow(made, to, n);
      } else {
        norm_row_grad(grad, row, to, n, weight, a_.inner, means_[r], rstds_[r]);
      }
    }
  }

 private:
  const RowNormAttributes& a_;
  const Tensor& gx_;
  const T *const g_, *const x_;
  const A *const means_, *const rstds_;
  Tensor weights_;  // keeps what weight_ points to
  const A* weight_ = nullptr;
};

template <class T>
void row_norm_grad_of(const KernelCall& call) {
  using A = OpMath<T>;
  const auto& a = call.attributes<RowNormAttributes>();
  const RowGradients<T> gradients(call);
  const Tensor &gw = call.tensor(1), &gb = call.tensor(2);
  const Tensor& any = gw.defined() ? gw : gb;
  if (!any.defined())
    return parallel_for(0, a.rows, rows_grain(a.columns),
                        [&](int64_t begin, int64_t end) {
                          gradients.run(begin, end, nullptr, nullptr);
                        });
  // Some rows' sums each, whatever the number of threads.
  constexpr int64_t kLeastRows = 8, kMostParts = 64;
  const int64_t parts = std::clamp<int64_t>(
      std::min(a.rows / kLeastRows, a.rows * a.columns / kGrainSize), 1,
      kMostParts);
  const int64_t numel = any.numel();
  std::vector<A> sums(size_t(2 * parts * numel), A(0));
  parallel_for(0, parts, 1, [&](int64_t part, int64_t end) {
    for (; part < end; ++part) {
      A* const weights = sums.data() + 2 * part * numel;
      gradients.run(a.rows * part / parts, a.rows * (part + 1) / parts, weights,
                    weights + numel);
    }
  });
  for (int64_t i = 0; i < numel; ++i) {
    A weight = A(0), bias = A(0);
    for (int64_t part = 0; part < parts; ++part) {
      weight += sums[size_t(2 * part * numel + i)];
      bias += sums[size_t((2 * part + 1) * numel + i)];
    }
    store<T>(gw, i, weight);
    store<T>(gb, i, bias);
  }
}

// [N, C, S]: the elements of a channel are N runs of S.
struct Channels {
  int64_t n, c, s;
  explicit Channels(const Tensor& x) : n(x.size(0)), c(x.size(1)), s(1) {
    for (int64_t d = 2; d < x.dim(); ++d) s *= x.size(d);
  }
  int64_t count() const { return n * s; }
  // Sum of f(offset) over a channel, in double: there may be millions.
  template <class F>
  double sum(int64_t channel, const F& f) const {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t base = (i * c + channel) * s;
      total += double(lane_sum(s, [&](int64_t j) { return f(base + j); }));
    }
    return total;
  }
  template <class F>
  void each(int64_t channel, const F& f) const {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t base = (i * c + channel) * s;
      for (int64_t j = base; j < base + s; ++j) f(j);
    }
  }
};

// A square of the mean, in variances, from which on its rounding counts.
constexpr double kFar = 1e3;

template <class T>
void batch_norm_of(const KernelCall& call) {
  using A = OpMath<T>;
  const auto& a = call.attributes<BatchNormAttributes>();
  const Tensor& x = call.tensor(5);
  const Tensor &running_mean = call.tensor(3), &running_var = call.tensor(4);
  const Channels shape(x);
  const T* from = x.data<T>();
  T* to = call.tensor(0).data<T>();
  A *means = call.tensor(1).data<A>(), *rstds = call.tensor(2).data<A>();
  const Parameter<T> weight(call.tensor(6), A(1)), bias(call.tensor(7), A(0));
  const Parameter<T> old_mean(running_mean, A(0)), old_var(running_var, A(0));
  // As PyTorch, whose statistics have the dtype of the parameters.
  bool rounds = kIsReduced<T> && a.training;
  for (size_t i : {3, 4, 6, 7})
    rounds &= !call.tensor(i).defined() || call.tensor(i).dtype() == x.dtype();
  const double n = double(shape.count());
  for_rows(shape.c, shape.count(), [&](int64_t c) {
    double mean, variance;
    if (a.training) {
      mean = shape.sum(c, [&](int64_t i) { return A(from[i]); }) / n;
      const auto spread = [&](A centre) {
        return shape.sum(c, [&, centre](int64_t i) {
          const A d = A(from[i]) - centre;
          return d * d;
        });
      };
      double squares = spread(A(mean));
      // Far from zero the sum's rounding is as large as the deviation.
      if (mean * mean * n > kFar * squares) {
        const A rough = A(mean);
        mean = double(rough) +
               shape.sum(c, [&](int64_t i) { return A(from[i]) - rough; }) / n;
        squares = spread(A(mean));
      }
      variance = squares / n;
      const double unbiased = squares / (n - 1);
      const double m = a.momentum;
      if (shape.count() > 0) {
        store<T>(running_mean, c, A(m * mean + (1 - m) * old_mean[c]));
        store<T>(running_var, c, A(m * unbiased + (1 - m) * old_var[c]));
      }
    } else {
      mean = double(old_mean[c]);
      variance = double(old_var[c]);
    }
    means[c] = A(mean);
    rstds[c] = A(1 / std::sqrt(variance + a.eps));
    if (rounds) means[c] = A(T(means[c])), rstds[c] = A(T(rstds[c]));
    const A scale = rstds[c] * weight[c], shift = bias[c], middle = means[c];
    shape.each(c, [&](int64_t i) {
      to[i] = T((A(from[i]) - middle) * scale + shift);
    });
  });
}

template <class T>
void batch_norm_grad_of(const KernelCall& call) {
  using A = OpMath<T>;
  const auto& a = call.attributes<BatchNormAttributes>();
  const Tensor &gx = call.tensor(0), &gw = call.tensor(1), &gb = call.tensor(2);
  const Channels shape(call.tensor(4));
  const T *g = call.tensor(3).data<T>(), *x = call.tensor(4).data<T>();
  const A *means = call.tensor(5).data<A>(), *rstds = call.tensor(6).data<A>();
  const Parameter<T> weight(call.tensor(7), A(1));
  const double n = double(std::max<int64_t>(shape.count(), 1));
  for_rows(shape.c, shape.count(), [&](int64_t c) {
    const A mean = means[c], rstd = rstds[c];
    const double sum = shape.sum(c, [&](int64_t i) { return A(g[i]); });
    const double dot =
        shape.sum(c, [&](int64_t i) { return A(g[i]) * (A(x[i]) - mean); });
    // Deviations of no elements are NaN, which nothing is multiplied by.
    store<T>(gw, c, shape.count() > 0 ? A(dot * rstd) : A(0));
    store<T>(gb, c, A(sum));
    if (!gx.defined()) return;
    T* to = gx.data<T>();
    const A scale = weight[c] * rstd;
    if (!a.training) {  // whatever x is: it may be infinite
      shape.each(c, [&](int64_t i) { to[i] = T(scale * A(g[i])); });
      return;
    }
    const A shift = A(sum / n), slope = A(dot * rstd * rstd / n);
    shape.each(c, [&](int64_t i) {
      to[i] = T(scale * (A(g[i]) - shift - (A(x[i]) - mean) * slope));
    });
  });
}

constexpr KernelTypes<FloatingTypes> kRowTypes{3, "LayerNormKernelImpl"};
constexpr KernelTypes<FloatingTypes> kRowGradTypes{
    3, "LayerNormBackwardKernelImpl"};
constexpr KernelTypes<FloatingTypes> kBatchTypes{5, "batch_norm"};
constexpr KernelTypes<FloatingTypes> kBatchGradTypes{3, "batch_norm_backward"};

void row_norm(const KernelCall& call) {
  kRowTypes.visit(call, [&]<class T>() { row_norm_of<T>(call); });
}
void row_norm_grad(const KernelCall& call) {
  kRowGradTypes.visit(call, [&]<class T>() { row_norm_grad_of<T>(call); });
}
void batch_norm(const KernelCall& call) {
  kBatchTypes.visit(call, [&]<class T>() { batch_norm_of<T>(call); });
}
void batch_norm_grad(const KernelCall& call) {
  kBatchGradTypes.visit(call, [&]<class T>() { batch_norm_grad_of<T>(call); });
}

HOTARU_KERNEL(kCPU, "row_norm", row_norm, check_types<kRowTypes>);
HOTARU_KERNEL(kCPU, "row_norm_grad", row_norm_grad, check_types<kRowGradTypes>);
HOTARU_KERNEL(kCPU, "batch_norm", batch_norm, check_types<kBatchTypes>);
HOTARU_KERNEL(kCPU, "batch_norm_grad", batch_norm_grad,
              check_types<kBatchGradTypes>);

}  // namespace
}  // namespace hotaru::cpu
