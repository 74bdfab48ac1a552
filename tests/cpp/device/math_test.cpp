// Softmax, products, normalisation and draws on CUDA, of sizes at the edges of
// what blocks and vectors take: for the sanitizers, which Python's tests do not
// run under.
#include <gtest/gtest.h>

#include <functional>

#include "hotaru/core/host.h"
#include "hotaru/engine/engine.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/norm/norm.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

const Device kCuda{DeviceType::kCUDA, 0};
constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16};

Tensor numbers(Dims shape, DType dtype = DType::kFloat32) {
  return to(randn(shape), dtype);
}

/// But for rounding: of the largest number's size.
void expect_close(const Tensor& got, const Tensor& expected) {
  const double tolerance = expected.dtype() == DType::kFloat64   ? 1e-10
                           : expected.dtype() == DType::kFloat32 ? 1e-4
                           : expected.dtype() == DType::kFloat16 ? 0.01
                                                                 : 0.05;
  const auto wide = [](const Tensor& t) {
    return to(to(t, Device{}), DType::kFloat64);
  };
  const double largest = item(max(abs(wide(expected)))).to_double();
  const Tensor difference = abs(sub(wide(got), wide(expected)));
  EXPECT_LE(item(max(difference)).to_double(), tolerance * (1 + largest));
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// Compares results and gradients of the CPU and of CUDA.
void expect_same(const Function& f, const std::vector<Tensor>& in) {
  std::vector<Tensor> results[2];
  Tensor weight;
  for (const bool cuda : {false, true}) {
    std::vector<Tensor> own;
    for (const Tensor& t : in) {
      own.push_back(cuda ? to(t, kCuda) : clone(t));
      autograd::set_requires_grad(own.back(), true);
    }
    const Tensor out = f(own);
    results[cuda].push_back(detach(out));
    if (!weight.defined()) weight = numbers(Dims(out.sizes()), out.dtype());
    const Tensor loss = sum(mul(out, cuda ? to(weight, kCuda) : weight));
    for (const Tensor& g : autograd::grad({loss}, own, {Tensor()}))
      results[cuda].push_back(g);
  }
  for (size_t i = 0; i < results[0].size(); ++i)
    expect_close(results[1][i], results[0][i]);
}

TEST(CudaMath, Softmax) {
  for (const DType dtype : kFloats)
    for (const int64_t length : {1, 7, 256, 1023, 5001})
      for (const int64_t lines : {1, 33}) {
        const auto over = [](int64_t dim) {
          return [dim](const std::vector<Tensor>& t) {
            return add(softmax(t[0], dim), log_softmax(t[0], dim));
          };
        };
        expect_same(over(1), {numbers({lines, length}, dtype)});
        if (length < 2000)
          expect_same(over(0), {numbers({length, lines}, dtype)});
      }
}

TEST(CudaMath, Products) {
  const Function product = [](const std::vector<Tensor>& t) {
    return matmul(t[0], t[1]);
  };
  for (const DType dtype : {DType::kFloat32, DType::kFloat64})
    for (const int64_t m : {1, 31, 65})
      for (const int64_t k : {1, 6, 1030})
        expect_same(product, {numbers({m, k}, dtype), numbers({k, 34}, dtype)});
  for (const DType dtype : kFloats) {
    const Tensor a = div(numbers({45, 130, 12}, dtype), Scalar(4)),
                 b = numbers({12, 67}, dtype);
    expect_close(matmul(to(a, kCuda), to(b, kCuda)), matmul(a, b));
  }
}

TEST(CudaMath, Normalisation) {
  for (const DType dtype : kFloats)
    for (const int64_t columns : {5, 12, 4099}) {
      const Tensor x = numbers({6, 4, columns}, dtype);
      const Tensor w = numbers({columns}, dtype), c = numbers({4}, dtype);
      expect_same(
          [&](const std::vector<Tensor>& t) {
            return layer_norm(t[0], Dims{columns}, t[1], t[1]);
          },
          {x, w});
      expect_same(
          [&](const std::vector<Tensor>& t) {
            const Tensor out = group_norm(t[0], 2, t[1], t[1]);
            return add(out,
                       batch_norm(t[0], t[1], t[1], {}, {}, true, 0.1, 1e-5));
          },
          {x, c});
    }
}

TEST(CudaMath, Draws) {
  for (const DType dtype : kFloats) {
    const TensorOptions options{dtype, kCuda};
    for (const int64_t n : {1, 255, 1025}) {
      const Tensor u = uniform_(empty(Dims{n}, options), 2, 3);
      EXPECT_GE(item(min(u)).to_double(), 2);
      EXPECT_LT(item(max(u)).to_double(), 3);
      normal_(u);
      exponential_(u);
      EXPECT_GT(item(min(u)).to_double(), 0);
      random_(u, 3, 8);
      EXPECT_GE(item(min(u)).to_double(), 3);
      bernoulli_(u, rand(Dims{n}, {DType::kFloat32, kCuda}));
      dropout(u, 0.5, true);
    }
  }
  const Tensor order = randperm(1000, {DType::kInt64, kCuda});
  EXPECT_EQ(item(sum(order)).to<int64_t>(), 999 * 500);
  const Tensor weights = rand(Dims{3, 300}, {DType::kFloat32, kCuda});
  EXPECT_LT(item(max(multinomial(weights, 1000, true))).to<int64_t>(), 300);
}

}  // namespace
}  // namespace hotaru
