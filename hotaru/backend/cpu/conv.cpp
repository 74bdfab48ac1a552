// Convolution as a product of matrices over unrolled windows of the input
// ("im2col": K. Chellapilla et al., High performance convolutional neural
// networks for document processing, 2006), a tile of output positions at a
// time so that the windows stay in cache.
#include "hotaru/backend/common/conv.h"

#include <array>
#include <memory>

#include "hotaru/backend/cpu/gemm.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/parallel.h"

namespace hotaru::cpu {
namespace {

// Elements of unrolled windows kept at a time.
constexpr int64_t kTileElements = 64 * 1024;

// Scratch memory, uninitialised.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t n) : data_(new T[size_t(n)]) {}
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

// The problem in three spatial dimensions; missing ones have size 1.
struct Geometry {
  int64_t n, c, o, groups;
  std::array<int64_t, 3> in, out, kernel, stride, padding, dilation;

  Geometry(const Tensor& x, const Tensor& w, const Tensor& y,
           const ConvAttributes& a)
      : n(x.size(0)), c(x.size(1)), o(y.size(1)), groups(a.groups) {
    const size_t dims = a.stride.size();
    for (size_t i = 0; i < 3; ++i) {
      const bool missing = i + dims < 3;
      const size_t d = i + dims - 3;
      in[i] = missing ? 1 : x.sizes()[d + 2];
      out[i] = missing ? 1 : y.sizes()[d + 2];
      kernel[i] = missing ? 1 : w.sizes()[d + 2];
      stride[i] = missing ? 1 : a.stride[d];
      padding[i] = missing ? 0 : a.padding[d];
      dilation[i] = missing ? 1 : a.dilation[d];
    }
  }
  static int64_t volume(const std::array<int64_t, 3>& s) {
    return s[0] * s[1] * s[2];
  }
  int64_t in_size() const { return volume(in); }
  int64_t out_size() const { return volume(out); }
  int64_t kernel_size() const { return volume(kernel); }
  int64_t group_in() const { return c / groups; }
  int64_t group_out() const { return o / groups; }
  /// Rows of the unrolled windows.
  int64_t depth() const { return group_in() * kernel_size(); }
  /// Whether the windows are the input itself.
  bool pointwise() const {
    constexpr std::array<int64_t, 3> ones{1, 1, 1}, zeros{0, 0, 0};
    return kernel == ones && stride == ones && padding == zeros;
  }
  int64_t tile() const {
    return std::clamp<int64_t>(kTileElements / std::max<int64_t>(depth(), 1), 1,
                               std::max<int64_t>(out_size(), 1));
  }
};

// Calls f(row, column, input offset or -1 for padding, run length, input step)
// for runs of output positions [begin, end) along the last dimension.
template <class F>
void for_windows(const Geometry& g, int64_t begin, int64_t end, const F& f) {
  const int64_t plane = g.in_size();
  int64_t row = 0;
  for (int64_t c = 0; c < g.group_in(); ++c)
    for (int64_t kd = 0; kd < g.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
        for (int64_t kw = 0; kw < g.kernel[2]; ++kw, ++row) {
          for (int64_t at = begin; at < end;) {
            const int64_t ow = at % g.out[2];
            const int64_t oh = at / g.out[2] % g.out[1];
            const int64_t od = at / (g.out[2] * g.out[1]);
            const int64_t run = std::min(g.out[2] - ow, end - at);
            const int64_t id =
                od * g.stride[0] - g.padding[0] + kd * g.dilation[0];
            const int64_t ih =
                oh * g.stride[1] - g.padding[1] + kh * g.dilation[1];
            const int64_t iw =
                ow * g.stride[2] - g.padding[2] + kw * g.dilation[2];
            const int64_t step = g.stride[2];
            const int64_t column = at - begin;
            if (id < 0 || id >= g.in[0] || ih < 0 || ih >= g.in[1]) {
              f(row, column, int64_t{-1}, run, step);
            } else {
              // [first, last) of the run lie inside the input.
              const int64_t first = std::clamp<int64_t>(
                  iw >= 0 ? 0 : detail::divide_up(-iw, step), 0, run);
              const int64_t last = std::clamp<int64_t>(
                  iw >= g.in[2] ? 0 : detail::divide_up(g.in[2] - iw, step),
                  first, run);
              const int64_t base =
                  c * plane + (id * g.in[1] + ih) * g.in[2] + iw;
              if (first > 0) f(row, column, int64_t{-1}, first, step);
              if (last > first)
                f(row, column + first, base + first * step, last - first, step);
              if (run > last)
                f(row, column + last, int64_t{-1}, run - last, step);
            }
            at += run;
          }
        }
}

template <class T>
void unroll(const Geometry& g, const T* x, int64_t begin, int64_t end,
            T* windows) {
  const int64_t width = end - begin;
  for_windows(g, begin, end,
              [&](int64_t row, int64_t column, int64_t from, int64_t run,
                  int64_t step) {
                T* to = windows + row * width + column;
                if (from < 0)
                  std::fill(to, to + run, T(0));
                else if (step == 1)
                  std::copy(x + from, x + from + run, to);
                else
                  for (int64_t i = 0; i < run; ++i) to[i] = x[from + i * step];
              });
}

template <class A>
void roll_up(const Geometry& g, const A* windows, int64_t begin, int64_t end,
             A* x) {
  const int64_t width = end - begin;
  for_windows(
      g, begin, end,
      [&](int64_t row, int64_t column, int64_t to, int64_t run, int64_t step) {
        const A* from = windows + row * width + column;
        if (to < 0) return;
        for (int64_t i = 0; i < run; ++i) {
                  A& sum = x[to + i * step];
                  sum = A(OpMath<A>(sum) + OpMath<A>(from[i]));
                }
      });
}

// f(sample, group) for each, in parallel.
template <class F>
void for_samples(const Geometry& g, const F& f) {
  const int64_t work = g.depth() * g.group_out() * g.out_size();
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, work));
  parallel_for(0, g.n * g.groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / g.groups, i % g.groups);
  });
}

template <class T>
void forward(const Geometry& g, T* y, const T* x, const T* w, const T* bias) {
  const int64_t size = g.out_size(), rows = g.group_out();
  for_samples(g, [&](int64_t n, int64_t group) {
    const T* input = x + (n * g.c + group * g.group_in()) * g.in_size();
    const T* weight = w + group * rows * g.depth();
    T* to = y + (n * g.o + group * rows) * size;
    Epilogue<T> epilogue;
    epilogue.bias = bias ? bias + group * rows : nullptr;
    epilogue.bias_per_row = true;
    Buffer<T> windows(g.pointwise() ? 0 : g.depth() * g.tile());
    for (int64_t at = 0; at < size; at += g.tile()) {
      const int64_t end = std::min(size, at + g.tile()), width = end - at;
      MatrixRef<T> columns{input + at, size, 1};
      if (!g.pointwise()) {
        unroll(g, input, at, end, windows.data());
        columns = {windows.data(), width, 1};
      }
      gemm<T>(rows, width, g.depth(), T(1), {weight, g.depth(), 1}, columns,
              T(0), to + at, size, epilogue);
    }
  });
}

template <class T>
void data(const Geometry& g, T* x, const T* y, const T* w, const T* bias) {
  const int64_t size = g.out_size(), rows = g.group_out();
  const int64_t plane = g.in_size();
  for_samples(g, [&](int64_t n, int64_t group) {
    const int64_t first = group * g.group_in();
    const MatrixRef<T> weight{w + group * rows * g.depth(), 1, g.depth()};
    const T* from = y + (n * g.o + group * rows) * size;
    T* to = x + (n * g.c + first) * plane;
    for (int64_t c = 0; c < g.group_in(); ++c)
      std::fill_n(to + c * plane, plane, bias ? bias[first + c] : T(0));
    Buffer<T> windows(g.depth() * g.tile());
    for (int64_t at = 0; at < size; at += g.tile()) {
      const int64_t end = std::min(size, at + g.tile()), width = end - at;
      gemm<T>(g.depth(), width, rows, T(1), weight, {from + at, size, 1}, T(0),
              windows.data(), width);
      roll_up(g, windows.data(), at, end, to);
    }
  });
}

template <class T>
void weight(const Geometry& g, T* w, const T* y, const T* x) {
  const int64_t size = g.out_size(), rows = g.group_out();
  // Groups are independent; the samples of one are summed in order.
  parallel_for(0, g.groups, 1, [&](int64_t begin, int64_t end) {
    Buffer<T> windows(g.depth() * g.tile());
    for (int64_t group = begin; group < end; ++group) {
      T* to = w + group * rows * g.depth();
      std::fill_n(to, rows * g.depth(), T(0));
      for (int64_t n = 0; n < g.n; ++n) {
        const T* input = x + (n * g.c + group * g.group_in()) * g.in_size();
        const T* from = y + (n * g.o + group * rows) * size;
        for (int64_t at = 0; at < size; at += g.tile()) {
          const int64_t stop = std::min(size, at + g.tile());
          const int64_t width = stop - at;
          unroll(g, input, at, stop, windows.data());
          gemm<T>(rows, g.depth(), width, T(1), {from + at, size, 1},
                  {windows.data(), 1, width}, T(1), to, g.depth());
        }
      }
    }
  });
}

void conv_forward(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2);
  const Tensor& bias = call.tensor(3);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  visit_dtype(NumberTypes{}, y.dtype(), "slow_conv", [&]<class T>() {
    forward(g, y.data<T>(), x.data<T>(), w.data<T>(),
            bias.defined() ? bias.data<T>() : nullptr);
  });
}

void conv_data(const KernelCall& call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1), &w = call.tensor(2);
  const Tensor& bias = call.tensor(3);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  visit_dtype(NumberTypes{}, x.dtype(), "slow_conv_transpose", [&]<class T>() {
    data(g, x.data<T>(), y.data<T>(), w.data<T>(),
         bias.defined() ? bias.data<T>() : nullptr);
  });
}

void conv_weight(const KernelCall& call) {
  const Tensor &w = call.tensor(0), &y = call.tensor(1), &x = call.tensor(2);
  const Geometry g(x, w, y, call.attributes<ConvAttributes>());
  visit_dtype(NumberTypes{}, w.dtype(), "slow_conv_backward", [&]<class T>() {
    weight(g, w.data<T>(), y.data<T>(), x.data<T>());
  });
}

HOTARU_KERNEL(kCPU, "conv_forward", conv_forward);
HOTARU_KERNEL(kCPU, "conv_data", conv_data);
HOTARU_KERNEL(kCPU, "conv_weight", conv_weight);

}  // namespace
}  // namespace hotaru::cpu
