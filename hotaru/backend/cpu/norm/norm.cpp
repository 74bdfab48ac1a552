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
  std::vector<float> out(static_cast<size_t>(t.numel()));
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

/// The gradient of a row of the input; scaled: room for one.
template <class A>
void row_gradient(const RowNormAttributes& a, int64_t r, const A* grad,
                  const A* from, A mean, A rstd, const Parameter<A>& weight,
                  A* scaled, A* to) {
  const int64_t n = a.columns;
  for_weights(a, r,
              [&](int64_t w, int64_t i) { scaled[i] = grad[i] * weight[w]; });
  const A sum = lane_sum(n, [&](int64_t i) { return scaled[i]; });
  const A dot = lane_sum(
      n, [&](int64_t i) { return scaled[i] * (from[i] - mean) * rstd; });
  const A shift = sum / A(n), slope = dot * rstd / A(n);
  for (int64_t i = 0; i < n; ++i)
    to[i] = rstd * (scaled[i] - shift - (from[i] - mean) * slope);
}

/// Adds what a row has for the gradients of weight and bias.
template <class A>
void add_row(const RowNormAttributes& a, int64_t r, const A* grad,
             const A* from, A mean, A rstd, A* weights, A* biases) {
  const auto share = [&](int64_t i) {
    return grad[i] * (from[i] - mean) * rstd;
  };
  if (a.inner == 1)
    return for_weights(a, r, [&](int64_t w, int64_t i) {
      biases[w] += grad[i];
      weights[w] += share(i);
    });
  // A plane's elements are summed in lanes: one by one, planes of thousands
  // would lose four digits.
  for (int64_t w = r % a.period * a.step, j = 0; j < a.columns;
       ++w, j += a.inner) {
    biases[w] += lane_sum(a.inner, [&](int64_t i) { return grad[j + i]; });
    weights[w] += lane_sum(a.inner, [&](int64_t i) { return share(j + i); });
  }
}

template <class T>
void row_norm_grad_of(const KernelCall& call) {
  using A = OpMath<T>;
  const auto& a = call.attributes<RowNormAttributes>();
  const Tensor &gx = call.tensor(0), &gw = call.tensor(1), &gb = call.tensor(2);
  const T *g = call.tensor(3).data<T>(), *x = call.tensor(4).data<T>();
  const A *means = call.tensor(5).data<A>(), *rstds = call.tensor(6).data<A>();
  const int64_t n = a.columns;
  // f(r, gradient, row) for rows [begin, end); room for two of them.
  const auto each = [&](int64_t begin, int64_t end, A* room, const auto& f) {
    for (int64_t r = begin; r < end; ++r)
      f(r, wide_row(g + r * n, n, room), wide_row(x + r * n, n, room + n));
  };
  if (gx.defined()) {
    Tensor weights = call.tensor(7);
    if constexpr (kIsReduced<T>)
      if (weights.defined() && has_type<T>(weights))
        weights = widened(weights.data<T>(), weights.numel());
    const Parameter<A> weight(weights, A(1));
    parallel_for(0, a.rows, rows_grain(n), [&](int64_t begin, int64_t end) {
      std::vector<A> room(static_cast<size_t>(4 * n));
      each(begin, end, room.data(),
           [&](int64_t r, const A* grad, const A* row) {
             T* const to = gx.data<T>() + r * n;
             A* const made = room.data() + 2 * n;
             if constexpr (kIsReduced<T>) {
               row_gradient(a, r, grad, row, means[r], rstds[r], weight,
                            made + n, made);
               narrow(made, to, n);
             } else {
               row_gradient(a, r, grad, row, means[r], rstds[r], weight, made,
                            to);
             }
           });
    });
  }
  const Tensor& any = gw.defined() ? gw : gb;
  if (!any.defined()) return;
  std::vector<A> weights(static_cast<size_t>(any.numel()), A(0));
  std::vector<A> biases(static_cast<size_t>(any.numel()), A(0));
  std::vector<A> room(static_cast<size_t>(2 * n));
  each(0, a.rows, room.data(), [&](int64_t r, const A* grad, const A* row) {
    add_row(a, r, grad, row, means[r], rstds[r], weights.data(), biases.data());
  });
  for (int64_t i = 0; i < any.numel(); ++i) {
    store<T>(gw, i, weights[i]);
    store<T>(gb, i, biases[i]);
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
      const A centre = A(mean);
      const double squares = shape.sum(c, [&](int64_t i) {
        const A d = A(from[i]) - centre;
        return d * d;
      });
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
    const A scale = rstds[c] * weight[c];
    const A shift = bias[c] - means[c] * scale;
    shape.each(c, [&](int64_t i) { to[i] = T(A(from[i]) * scale + shift); });
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
    store<T>(gw, c, A(dot * rstd));
    store<T>(gb, c, A(sum));
    if (!gx.defined()) return;
    T* to = gx.data<T>();
    const A scale = weight[c] * rstd;
    const A shift = a.training ? A(sum / n) : A(0);
    const A slope = a.training ? A(dot * rstd * rstd / n) : A(0);
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
