// Matrix products that take along what follows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hotaru/graph/graph.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/shape/view.h"
#include "tests/cpp/captured_graph.h"

namespace hotaru::graph {
namespace {

using Names = std::vector<std::string>;

struct Captured {
  Ref<Graph> graph;
  Tensor result;

  Names names() const {
    Names out;
    for (const auto& node : graph->program().nodes())
      out.push_back(node->name());
    return out;
  }
  size_t packed() const { return graph->program().once().size(); }
};

template <class F>
Captured capture(const F& what, Options options = {}) {
  Captured out;
  out.graph = captured_graph([&] { out.result = what(); }, std::move(options));
  out.graph->replay();
  return out;
}

/// Returns what replaying it computes.
template <class F>
Tensor replayed(const F& what) {
  return capture(what).result;
}

double distance(const Tensor& a, const Tensor& b) {
  EXPECT_TRUE(same(a.sizes(), b.sizes()));
  const Tensor x = to(a, DType::kFloat64), y = to(b, DType::kFloat64);
  double most = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double d = std::abs(x.data<double>()[i] - y.data<double>()[i]);
    most = std::max(most, std::isnan(d) ? 1e30 : d);
  }
  return most;
}

/// Bound on the difference of k products of normal numbers, added up in two
/// orders, and an activation of some units in the last place. On the way sums
/// are of size 3 sqrt(k) at most; k roundings of half a unit of that, at
/// random, come to sqrt(k) / sqrt(3) of it, 0.87 k units; those of both sums to
/// sqrt(2) of that; three times that for the worst of thousands.
double tolerance(int64_t k, DType dtype) {
  const double unit = dtype == DType::kFloat32 ? 0x1p-23 : 0x1p-52;
  return 3.7 * unit * double(k + 16);
}

struct Shape {
  int64_t m, n, k;
  DType dtype = DType::kFloat32;
};

class FuseLinear : public testing::TestWithParam<Shape> {
 protected:
  Tensor random(IntSpan sizes) const {
    return randn(sizes, TensorOptions{GetParam().dtype});
  }
  template <class F>
  void check(const char* what, const F& f, const Names& names = {"linear"}) {
    SCOPED_TRACE(what);
    const Tensor want = f();
    const Captured got = capture(f);
    EXPECT_EQ(got.names(), names);
    EXPECT_LE(distance(got.result, want),
              tolerance(GetParam().k, GetParam().dtype));
    const Captured apart = capture(f, Options{{}, true});
    EXPECT_EQ(distance(apart.result, want), 0);
    EXPECT_EQ(apart.packed(), 0u);
  }
};

TEST_P(FuseLinear, EveryEpilogueAloneAndTogether) {
  const Shape s = GetParam();
  const Tensor x = random(Dims{s.m, s.k}), w = random(Dims{s.n, s.k}),
               bias = random(Dims{s.n}), more = random(Dims{s.m, s.n});
  const Tensor none;
  const auto product = [&] { return linear(x, w, none); };
  const auto biased = [&] { return linear(x, w, bias); };
  check("relu", [&] { return relu(biased()); });
  check("sigmoid", [&] { return sigmoid(biased()); });
  check("tanh", [&] { return tanh(product()); });
  check("silu", [&] { return silu(biased()); });
  check("gelu", [&] { return gelu(biased()); });
  check("gelu by tanh", [&] { return gelu(product(), "tanh"); });
  check("number", [&] { return mul(product(), 0.25); });
  check("residual", [&] { return add(product(), more); });
  check("residual first", [&] { return add(more, biased()); });
  check("residual, relu", [&] { return relu(add(biased(), more)); });
  check("residual, gelu", [&] { return gelu(add(biased(), more)); });
  check("number, residual, tanh",
        [&] { return tanh(add(mul(product(), 0.25), more)); });
  check("number, bias, residual, silu",
        [&] { return silu(add(add(mul(product(), 0.25), bias), more)); });
  check("sum in the product", [&] { return relu(addmm(more, x, t(w))); });
}

INSTANTIATE_TEST_SUITE_P(Shapes, FuseLinear,
                         testing::Values(Shape{1, 40, 64}, Shape{2, 65, 31},
                                         Shape{3, 33, 700}, Shape{5, 17, 9},
                                         Shape{30, 128, 64}, Shape{16, 32, 1},
                                         Shape{7, 70, 800}, Shape{200, 96, 40},
                                         Shape{4, 2, 30},
                                         Shape{2, 40, 30, DType::kFloat64},
                                         Shape{20, 37, 500, DType::kFloat64}));

TEST(FuseLinear, WhatDoesNotFollowInThisOrderStaysApart) {
  const Tensor x = randn(Dims{8, 32}), w = randn(Dims{48, 32}),
               bias = randn(Dims{48}), more = randn(Dims{8, 48});
  const auto check = [&](const auto& f, size_t calls) {
    const Captured got = capture(f);
    EXPECT_EQ(got.names().size(), calls);
    EXPECT_LE(distance(got.result, f()), 4 * tolerance(32, DType::kFloat32));
  };
  // (x w + b) 2 is not 2 x w + b.
  check([&] { return mul(linear(x, w, bias), 2); }, 2);
  check([&] { return relu(relu(linear(x, w, bias))); }, 2);
  check([&] { return add(relu(linear(x, w, bias)), more); }, 2);
  check([&] { return add(linear(x, w, bias), more, 2); }, 2);
  check([&] { return mul(linear(x, w, bias), more); }, 2);
  // A row's own number for each, and twice the product itself.
  check([&] { return mul(linear(x, w, bias), narrow(more, 1, 0, 1)); }, 2);
  check(
      [&] {
        const Tensor y = linear(x, w, bias);
        return add(y, y);
      },
      2);
}

TEST(FuseLinear, WhatSomebodyElseWantsStays) {
  const Tensor x = randn(Dims{8, 32}), w = randn(Dims{48, 32}),
               bias = randn(Dims{48});
  const auto both = [&] {
    const Tensor y = linear(x, w, bias);
    return add(relu(y), y);
  };
  // The product's rounding counts twice in the sum.
  const double most = 2 * tolerance(32, DType::kFloat32);
  EXPECT_LE(distance(replayed(both), both()), most);
  Tensor held;
  const Captured outside = capture([&] {
    held = linear(x, w, bias);
    return relu(held);
  });
  EXPECT_LE(distance(held, linear(x, w, bias)), most);
  EXPECT_LE(distance(outside.result, relu(linear(x, w, bias))), 1e-5);
}

TEST(FuseLinear, WhatChangesInBetweenIsReadBefore) {
  const Tensor x = randn(Dims{8, 32}), w = randn(Dims{48, 32}),
               more = randn(Dims{8, 48});
  const Tensor none;
  // The product's input changes before the activation runs.
  const auto changed = [&] {
    const Tensor copy = add(x, 0);
    const Tensor y = linear(copy, w, none);
    fill_(copy, 7);
    return relu(y);
  };
  EXPECT_LE(distance(replayed(changed), changed()), 1e-5);
  // Additions come after the product, and may.
  const auto later = [&] {
    const Tensor y = linear(x, w, none);
    return add(y, tanh(more));
  };
  EXPECT_LE(distance(replayed(later), later()), 1e-5);
}

TEST(FuseLinear, InPlace) {
  const Tensor x = randn(Dims{8, 32}), w = randn(Dims{32, 32}),
               bias = randn(Dims{32});
  // y is taken over whole.
  const auto scaled = [&] {
    const Tensor y = mm(x, t(w));
    mul_(y, 0.5);
    return add(y, x);
  };
  const Captured one = capture(scaled);
  EXPECT_EQ(one.names(), Names{"linear"});
  EXPECT_LE(distance(one.result, scaled()), 1e-5);
  // Added where the residual lies; and where the product's input does.
  for (const bool itself : {false, true}) {
    const auto added = [&] {
      const Tensor z = add(x, 1), input = itself ? z : x;
      add_(z, linear(input, w, bias));
      return z;
    };
    EXPECT_LE(distance(replayed(added), added()), 1e-5) << itself;
  }
  // In a tensor that lasts: each replay adds once more.
  const Tensor total = zeros(Dims{8, 32});
  const Captured sum = capture([&] {
    add_(total, linear(x, w, bias));
    return total;
  });
  sum.graph->replay();
  EXPECT_LE(distance(total, mul(linear(x, w, bias), 2)), 1e-4);
}

TEST(FuseLinear, StridedAndBatchedOperands) {
  const Tensor x = randn(Dims{20, 3, 4, 16});
  const Tensor q = permute(select(x, 1, 0), Dims{1, 0, 2});
  const Tensor k = permute(select(x, 1, 1), Dims{1, 2, 0});
  const auto scores = [&] { return mul(bmm(q, k), 0.25); };
  const Captured got = capture(scores);
  EXPECT_EQ(got.names(), Names{"linear"});
  EXPECT_EQ(got.packed(), 0u);
  EXPECT_LE(distance(got.result, scores()), 1e-5);
  const Tensor a = randn(Dims{50, 40}), b = randn(Dims{50, 64});
  const Tensor bias = randn(Dims{64});
  const auto transposed = [&] { return relu(addmm(bias, t(a), b)); };
  EXPECT_LE(distance(replayed(transposed), transposed()), 1e-5);
  const Tensor wide = randn(Dims{33, 128});
  const auto sliced = [&] {
    return relu(linear(narrow(wide, 1, 5, 50), t(narrow(b, 1, 3, 35)),
                       narrow(bias, 0, 7, 35)));
  };
  EXPECT_LE(distance(replayed(sliced), sliced()), 1e-5);
}

TEST(FuseLinear, CopiesThatReorderRows) {
  const Tensor p = randn(Dims{4, 20, 24}), v = randn(Dims{4, 24, 16});
  const Tensor x = randn(Dims{20, 16}), w = randn(Dims{48, 16}),
               bias = randn(Dims{48});
  const auto check = [](const auto& f, const Names& names) {
    const Captured got = capture(f);
    EXPECT_EQ(got.names(), names);
    EXPECT_LE(distance(got.result, f()), 1e-5);
    got.graph->replay();
    EXPECT_LE(distance(got.result, f()), 1e-5);
  };
  const auto heads = [&] { return transpose(bmm(p, v), 0, 1); };
  check([&] { return reshape(heads(), Dims{20, 64}); }, {"linear"});
  check([&] { return contiguous(transpose(relu(bmm(p, v)), 0, 1)); },
        {"linear"});
  check([&] { return contiguous(bmm(p, v)); }, {"matmul"});  // is already
  // Columns apart: a copy of its own.
  check([&] { return contiguous(t(linear(x, w, bias))); }, {"linear", "copy_"});
  check(
      [&] {
        return contiguous(permute(bmm(p, v), Dims{2, 0, 1}));
      },
      {"matmul", "copy_"});
  // Into a part of something.
  check(
      [&] {
        const Tensor all = zeros(Dims{20, 4, 20});
        copy_(narrow(all, 2, 2, 16), heads());
        return all;
      },
      {"fill_", "matmul", "copy_"});
  // Readers behind the copy see it in the new order.
  check(
      [&] {
        return relu(add(reshape(heads(), Dims{20, 64}), 1));
      },
      {"linear", "graph_fused"});
  // To another type.
  check([&] { return to(heads(), DType::kFloat64); }, {"matmul", "copy_"});
}

TEST(FuseLinear, EmptyProducts) {
  const Tensor bias = randn(Dims{6});
  const auto check = [&](int64_t m, int64_t k) {
    const Tensor x = randn(Dims{m, k}), w = randn(Dims{6, k});
    const auto f = [&] { return relu(linear(x, w, bias)); };
    EXPECT_EQ(distance(replayed(f), f()), 0);
  };
  check(0, 4);
  check(3, 0);
}

TEST(FuseLinear, ANumberIsReadByEachReplay) {
  const Tensor x = randn(Dims{4, 32}), w = randn(Dims{40, 32});
  const Tensor scale = full(Dims{}, 2.0), none;
  const auto f = [&] { return mul(linear(x, w, none), scale); };
  const Captured got = capture(f);
  EXPECT_EQ(got.names(), Names{"linear"});
  fill_(scale, -3);
  got.graph->replay();
  EXPECT_LE(distance(got.result, f()), 1e-4);
}

TEST(FuseLinear, WeightsArePackedOnceAndAgainWhenTheyChange) {
  const Tensor x = randn(Dims{4, 64}), w = randn(Dims{64, 64}),
               bias = randn(Dims{64});
  const auto twice = [&] { return linear(relu(linear(x, w, bias)), w, bias); };
  const Captured got = capture(twice);
  EXPECT_EQ(got.names(), (Names{"linear", "linear"}));
  EXPECT_EQ(got.packed(), 1u);
  EXPECT_LE(distance(got.result, twice()), 1e-3);
  const Tensor other = randn(Dims{64, 64});
  copy_(w, other);
  got.graph->replay();
  EXPECT_LE(distance(got.result, twice()), 1e-3);
  // Through a view, an alias and a pointer.
  fill_(narrow(w, 0, 3, 5), 0.5);
  got.graph->replay();
  EXPECT_LE(distance(got.result, twice()), 1e-3);
  w.data<float>()[17] = 40;
  got.graph->replay();
  EXPECT_LE(distance(got.result, twice()), 1e-2);
}

TEST(FuseLinear, PackedWeightsKeepTheirMemory) {
  const Tensor x = randn(Dims{4, 64}), first = randn(Dims{64, 64}),
               second = randn(Dims{64, 64}), third = randn(Dims{128, 64}), none;
  const auto layers = [&] {
    const Tensor y = tanh(linear(x, first, none));
    const Tensor z = tanh(linear(y, second, none));
    return linear(add(y, z), third, none);
  };
  const Captured got = capture(layers);
  EXPECT_EQ(got.packed(), 3u);
  for (int i = 0; i < 3; ++i, got.graph->replay())
    EXPECT_LE(distance(got.result, layers()), 1e-4) << i;
}

TEST(FuseLinear, WeightsThatTheGraphMakesAreNotPacked) {
  const Tensor x = randn(Dims{4, 64}), w = randn(Dims{64, 64}), none;
  const auto made = [&] { return relu(linear(x, add(w, 1), none)); };
  const Captured got = capture(made);
  EXPECT_EQ(got.packed(), 0u);
  EXPECT_LE(distance(got.result, made()), 1e-3);
  // A step of training: read, then changed in place.
  const auto trained = [&] {
    const Tensor y = relu(linear(x, w, none));
    mul_(w, 0.5);
    return y;
  };
  const Captured steps = capture(trained);
  EXPECT_EQ(steps.packed(), 0u);
  const Tensor want = relu(linear(x, w, none));
  steps.graph->replay();
  EXPECT_LE(distance(steps.result, want), 1e-3);
}

}  // namespace
}  // namespace hotaru::graph
