// Convolutions by their definition, for tests of the kernels.
#pragma once

#include <random>
#include <vector>

#include "hotaru/backend/cpu/conv/conv_kernel.h"

namespace hotaru {

inline std::vector<double> small_integers(int64_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<double> values(static_cast<size_t>(count));
  for (double& v : values) v = int(random() % 9) - 4;
  return values;
}

/// Calls f(index in y, index in weight, index in x) for each product of the
/// convolution, straight from its definition.
template <class F>
void for_each_product(const ConvGeometry& g, const F& f) {
  const ConvGeometry::Sizes out = g.out();
  const int64_t ci = g.channels_per_group(), co = g.outputs_per_group();
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t o = 0; o < g.out_channels; ++o)
      for (int64_t p = 0; p < g.out_positions(); ++p) {
        const ConvGeometry::Sizes at{p / out[2] / out[1], p / out[2] % out[1],
                                     p % out[2]};
        for (int64_t c = 0; c < ci; ++c)
          for (int64_t t = 0; t < g.kernel[0] * g.kernel[1] * g.kernel[2];
               ++t) {
            const ConvGeometry::Sizes tap{t / g.kernel[2] / g.kernel[1],
                                          t / g.kernel[2] % g.kernel[1],
                                          t % g.kernel[2]};
            int64_t index = (n * g.in_channels + o / co * ci + c);
            bool inside = true;
            for (size_t d = 0; d < 3; ++d) {
              const int64_t i =
                  at[d] * g.stride[d] - g.padding[d] + tap[d] * g.dilation[d];
              inside = inside && i >= 0 && i < g.in[d];
              index = index * g.in[d] + i;
            }
            if (!inside) continue;
            f((n * g.out_channels + o) * g.out_positions() + p,
              (o * ci + c) * g.kernel[0] * g.kernel[1] * g.kernel[2] + t,
              index);
          }
      }
}

template <class T>
std::vector<T> cast(const std::vector<double>& from) {
  return {from.begin(), from.end()};
}

/// Results of a convolution and its gradients for operands of small integers:
/// exact sums.
struct ConvCase {
  std::vector<double> x, w, dy, bias, shift;  // shift: of x's channels
  std::vector<double> y, dx, dw;              // y with bias

  explicit ConvCase(const ConvGeometry& g)
      : x(small_integers(g.batch * g.in_channels * volume(g.in), 1)),
        w(small_integers(g.out_channels * g.patch_size(), 2)),
        dy(small_integers(g.batch * g.out_channels * g.out_positions(), 3)),
        bias(small_integers(g.out_channels, 4)),
        shift(small_integers(g.in_channels, 5)),
        y(dy.size()),
        dx(x.size()),
        dw(w.size()) {
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = bias[i / size_t(g.out_positions()) % size_t(g.out_channels)];
    for_each_product(g, [&](int64_t yi, int64_t wi, int64_t xi) {
      y[size_t(yi)] += w[size_t(wi)] * x[size_t(xi)];
      dx[size_t(xi)] += w[size_t(wi)] * dy[size_t(yi)];
      dw[size_t(wi)] += x[size_t(xi)] * dy[size_t(yi)];
    });
  }
  /// dx, of a transposed convolution with a bias.
  std::vector<double> shifted_dx(const ConvGeometry& g) const {
    std::vector<double> out = dx;
    const int64_t plane = volume(g.in);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] += shift[i / size_t(plane) % size_t(g.in_channels)];
    return out;
  }
};

}  // namespace hotaru
