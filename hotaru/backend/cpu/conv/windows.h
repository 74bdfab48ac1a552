// The windows of a convolution, unrolled into the rows of a matrix: for each
// group of channels, row (c, kd, kh, kw), column output position.
#pragma once

#include <algorithm>
#include <array>

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

// Elements of unrolled windows kept at a time.
inline constexpr int64_t kTileElements = 64 * 1024;

inline int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

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
  /// Geometry of im2col: all channels in one group.
  Geometry(IntSpan x, const UnfoldAttributes& a)
      : n(x[0]),
        c(x[1]),
        o(1),
        groups(1),
        in{1, x[2], x[3]},
        out{1, a.output[0], a.output[1]},
        kernel{1, a.kernel[0], a.kernel[1]},
        stride{1, a.window.stride[0], a.window.stride[1]},
        padding{0, a.window.padding[0], a.window.padding[1]},
        dilation{1, a.window.dilation[0], a.window.dilation[1]} {}
  int64_t in_size() const { return volume(in); }
  int64_t out_size() const { return volume(out); }
  int64_t kernel_size() const { return volume(kernel); }
  int64_t group_in() const { return c / groups; }
  int64_t group_out() const { return o / groups; }
  /// Rows of the unrolled windows.
  int64_t depth() const { return group_in() * kernel_size(); }
  /// True if the windows are the input itself.
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
                  iw >= 0 ? 0 : ceil_div(-iw, step), 0, run);
              const int64_t last = std::clamp<int64_t>(
                  iw >= g.in[2] ? 0 : ceil_div(g.in[2] - iw, step), first, run);
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

/// Sums of type A, of elements that may be narrower.
template <class T, class A>
void roll_up(const Geometry& g, const T* windows, int64_t begin, int64_t end,
             A* x) {
  const int64_t width = end - begin;
  for_windows(
      g, begin, end,
      [&](int64_t row, int64_t column, int64_t to, int64_t run, int64_t step) {
        const T* from = windows + row * width + column;
        if (to < 0) return;
        for (int64_t i = 0; i < run; ++i) {
          A& sum = x[to + i * step];
          sum = A(OpMath<A>(sum) + OpMath<A>(from[i]));
        }
      });
}

}  // namespace hotaru::cpu
