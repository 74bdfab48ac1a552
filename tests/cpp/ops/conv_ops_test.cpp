// Convolution and the other operators that are linear in their input: against
// loops that say what they mean, and against their own gradients, over random
// geometry. Run under sanitizers, this also looks for reads out of bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "hotaru/autograd/record.h"
#include "hotaru/engine/engine.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pool/pool.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  Tensor numbers(IntSpan size) {
    const Tensor t = empty(size, DType::kFloat64);
    std::uniform_real_distribution<double> draw(-1, 1);
    for (int64_t i = 0; i < t.numel(); ++i) t.data<double>()[i] = draw(engine_);
    return t;
  }

 private:
  std::mt19937 engine_;
};

double inner_product(const Tensor& a, const Tensor& b) {
  EXPECT_TRUE(same(a.sizes(), b.sizes()));
  double sum = 0;
  for (int64_t i = 0; i < a.numel(); ++i)
    sum += a.data<double>()[i] * b.data<double>()[i];
  return sum;
}

struct Case {
  int64_t batch, channels, outputs, groups;
  Dims in, kernel, stride, padding, dilation;
};

Case draw_case(Random& random) {
  Case c{random.between(1, 2), 0, 0, random.between(1, 3), {}, {}, {}, {}, {}};
  c.channels = c.groups * random.between(1, 2);
  c.outputs = c.groups * random.between(1, 3);
  for (int d = 0; d < 2; ++d) {
    c.kernel.push_back(random.between(1, 3));
    c.stride.push_back(random.between(1, 3));
    c.dilation.push_back(random.between(1, 2));
    c.padding.push_back(random.between(0, 2));
    const int64_t reach = c.dilation[d] * (c.kernel[d] - 1) + 1;
    c.in.push_back(std::max<int64_t>(reach - 2 * c.padding[d], 1) +
                   random.between(0, 5));
  }
  return c;
}

// y[n, o, p, q] += x[n, c, i, j] w[o, c, k, l] over everything in range.
Tensor naive(const Case& c, const Tensor& x, const Tensor& w, IntSpan size) {
  const Tensor y = zeros(size, DType::kFloat64);
  const int64_t per_in = c.channels / c.groups;
  const int64_t per_out = c.outputs / c.groups;
  const double *xs = x.data<double>(), *ws = w.data<double>();
  double* ys = y.data<double>();
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t p = 0; p < size[2]; ++p)
        for (int64_t q = 0; q < size[3]; ++q, ++ys)
          for (int64_t i = 0; i < per_in; ++i)
            for (int64_t k = 0; k < c.kernel[0]; ++k)
              for (int64_t l = 0; l < c.kernel[1]; ++l) {
                const int64_t r =
                    p * c.stride[0] - c.padding[0] + k * c.dilation[0];
                const int64_t s =
                    q * c.stride[1] - c.padding[1] + l * c.dilation[1];
                if (r < 0 || r >= c.in[0] || s < 0 || s >= c.in[1]) continue;
                const int64_t channel = o / per_out * per_in + i;
                *ys +=
                    xs[((n * c.channels + channel) * c.in[0] + r) * c.in[1] +
                       s] *
                    ws[((o * per_in + i) * c.kernel[0] + k) * c.kernel[1] + l];
              }
  return y;
}

TEST(Conv, AgreesWithItsDefinition) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Case c = draw_case(random);
    const Tensor x =
        random.numbers(Dims{c.batch, c.channels, c.in[0], c.in[1]});
    const Tensor w = random.numbers(
        Dims{c.outputs, c.channels / c.groups, c.kernel[0], c.kernel[1]});
    const Tensor y = convolution(x, w, {}, c.stride, c.padding, c.dilation,
                                 false, Dims{0}, c.groups);
    const Tensor want = naive(c, x, w, y.sizes());
    for (int64_t k = 0; k < y.numel(); ++k)
      ASSERT_NEAR(y.data<double>()[k], want.data<double>()[k], 1e-12)
          << "case " << i;
  }
}

// Every path of the kernels computes the same trilinear form.
TEST(Conv, GradientsAndTranspositionAreAdjoint) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Case c = draw_case(random);
    const Tensor x =
        random.numbers(Dims{c.batch, c.channels, c.in[0], c.in[1]});
    const Tensor w = random.numbers(
        Dims{c.outputs, c.channels / c.groups, c.kernel[0], c.kernel[1]});
    autograd::set_requires_grad(x, true);
    autograd::set_requires_grad(w, true);
    const Tensor y = convolution(x, w, {}, c.stride, c.padding, c.dilation,
                                 false, Dims{0}, c.groups);
    const Tensor g = random.numbers(y.sizes());
    const Tensors grads = autograd::grad({y}, {x, w}, {g});
    const double value = inner_product(y, g);
    ASSERT_NEAR(inner_product(grads[0], x), value, 1e-11) << "case " << i;
    ASSERT_NEAR(inner_product(grads[1], w), value, 1e-11) << "case " << i;

    // Transposed, with as much output padding as is allowed.
    Dims extra;
    for (size_t d = 0; d < 2; ++d)
      extra.push_back(
          random.between(0, std::max(c.stride[d], c.dilation[d]) - 1));
    bool positive = true;
    for (size_t d = 0; d < 2; ++d)
      positive &= (g.size(int64_t(d) + 2) - 1) * c.stride[d] -
                      2 * c.padding[d] + c.dilation[d] * (c.kernel[d] - 1) +
                      extra[d] + 1 >
                  0;
    if (!positive) continue;
    autograd::set_requires_grad(g, true);
    const Tensor z = convolution(g, w, {}, c.stride, c.padding, c.dilation,
                                 true, extra, c.groups);
    const Tensor v = random.numbers(z.sizes());
    const Tensors back = autograd::grad({z}, {g, w}, {v});
    const double other = inner_product(z, v);
    ASSERT_NEAR(inner_product(back[0], g), other, 1e-11) << "case " << i;
    ASSERT_NEAR(inner_product(back[1], w), other, 1e-11) << "case " << i;
  }
}

// <A x, g> = <x, A^T g> for operators that are linear in x.
TEST(LinearMaps, GradientIsTheTranspose) {
  using Map = std::function<Tensor(Random&, const Tensor&)>;
  const auto sizes = [](Random& r) {
    return Dims{r.between(1, 9), r.between(1, 9)};
  };
  const auto by_name = [](const char* name, std::vector<Value> arguments) {
    Value result;
    Registry::instance().find(name, "")->call(arguments.data(), &result);
    return result.as_tensor();
  };
  const std::vector<std::pair<const char*, Map>> maps{
      {"avg_pool2d",
       [](Random& r, const Tensor& x) {
         const Dims k{r.between(1, 3), r.between(1, 3)};
         const Dims s{r.between(1, 3), r.between(1, 3)};
         const Dims p{k[0] / 2, k[1] / 2}, one{1};
         const bool ceil = r.between(0, 1), include = r.between(0, 1);
         return avg_pool(x, 2, {k, s, p, one, ceil}, include);
       }},
      {"adaptive_avg_pool2d",
       [&](Random& r, const Tensor& x) {
         return adaptive_avg_pool(x, sizes(r));
       }},
      {"pad",
       [](Random& r, const Tensor& x) {
         static const char* const kModes[] = {"constant", "reflect",
                                              "replicate", "circular"};
         return pad(x,
                    Dims{r.between(-1, 2), r.between(0, 2), r.between(0, 2),
                         r.between(-1, 2)},
                    kModes[r.between(0, 3)]);
       }},
      {"upsample_bilinear2d",
       [&](Random& r, const Tensor& x) {
         return by_name(
             "upsample_bilinear2d",
             {x, Value::int_list(sizes(r)), r.between(0, 1) != 0, {}, {}});
       }},
      {"upsample_bicubic2d",
       [&](Random& r, const Tensor& x) {
         return by_name(
             "upsample_bicubic2d",
             {x, Value::int_list(sizes(r)), r.between(0, 1) != 0, {}, {}});
       }},
      {"upsample_nearest2d",
       [&](Random& r, const Tensor& x) {
         return by_name("upsample_nearest2d",
                        {x, Value::int_list(sizes(r)), {}, {}});
       }},
      {"im2col", [&](Random& r, const Tensor& x) {
         const auto two = [&](int64_t low, int64_t high) {
           return Value::int_list(
               Dims{r.between(low, high), r.between(low, high)});
         };
         return by_name("im2col",
                        {x, two(1, 3), two(1, 2), two(0, 2), two(1, 3)});
       }}};
  Random random(3);
  for (const auto& [name, map] : maps)
    for (int i = 0; i < 60; ++i) {
      const Tensor x = random.numbers(Dims{
          random.between(1, 2), 2, random.between(5, 8), random.between(5, 8)});
      autograd::set_requires_grad(x, true);
      const Tensor y = map(random, x);
      const Tensor g = random.numbers(y.sizes());
      const Tensor back = autograd::grad({y}, {x}, {g})[0];
      ASSERT_NEAR(inner_product(back, x), inner_product(y, g), 1e-11)
          << name << ", case " << i;
    }
}

// A maximum's gradient goes to the position its index names.
TEST(MaxPool, GradientGoesToTheIndex) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    const Tensor x =
        random.numbers(Dims{1, 2, random.between(3, 9), random.between(3, 9)});
    autograd::set_requires_grad(x, true);
    const Dims k{random.between(1, 3), random.between(1, 3)};
    const Dims s{random.between(1, 3), random.between(1, 3)};
    const Dims d{1, random.between(1, 2)}, p{k[0] / 2, k[1] / 2};
    if (d[1] * (k[1] - 1) + 1 > x.size(3) + 2 * p[1]) continue;
    const bool ceil = random.between(0, 1) != 0;
    const auto [y, index] = max_pool(x, 2, {k, s, p, d, ceil}, true);
    const Tensor g = random.numbers(y.sizes());
    const Tensor back = autograd::grad({y}, {x}, {g})[0];
    const int64_t plane = x.size(2) * x.size(3), out = y.size(2) * y.size(3);
    const Tensor want = zeros(x.sizes(), DType::kFloat64);
    for (int64_t n = 0; n < y.numel(); ++n) {
      const int64_t at = index.data<int64_t>()[n] + n / out * plane;
      ASSERT_EQ(y.data<double>()[n], x.data<double>()[at]) << "case " << i;
      want.data<double>()[at] += g.data<double>()[n];
    }
    for (int64_t n = 0; n < x.numel(); ++n)
      ASSERT_NEAR(back.data<double>()[n], want.data<double>()[n], 1e-12);
  }
}

}  // namespace
}  // namespace hotaru
