// Attention in graphs: products and a softmax in one call, and values that are
// laid out row by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hotaru/backend/cpu/matmul/pair_kernels.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/captured_graph.h"

namespace hotaru::graph {
namespace {

// Weights of sum 1 times values below 5; scores of at most 130 products, each
// rounded at 6e-8 of at most 40 and so moving weights by as much of themselves.
constexpr double kTolerance = 5 * (130 * 6e-8 * 40 + 1e-6);

/// Queries, keys and values as heads of one tensor [B, T, H, D], and a mask.
struct Heads {
  Heads(int64_t batch, int64_t heads, int64_t rows, int64_t keys, int64_t depth)
      : q(randn(Dims{batch, rows, heads, depth})),
        k(randn(Dims{batch, keys, heads, depth})),
        v(randn(Dims{batch, keys, heads, depth})) {}

  static Tensor head(const Tensor& t) { return transpose(t, 1, 2); }
  Tensor scores() const {
    const double scale = 1 / std::sqrt(double(q.size(-1)));
    return matmul(mul(head(q), scale), transpose(head(k), -2, -1));
  }
  Tensor operator()(const Tensor& mask = {}) const {
    Tensor s = scores();
    if (mask.defined()) s = add(s, mask);
    return transpose(matmul(softmax(s, -1), head(v)), 1, 2);
  }

  Tensor q, k, v;
};

TEST(FuseAttention, ScoresAreNeverKept) {
  for (const auto& [batch, heads, rows, keys, depth] :
       {std::array<int64_t, 5>{1, 6, 197, 197, 64},
        {2, 3, 16, 33, 20},
        {3, 1, 130, 7, 1},
        {1, 2, 40, 3001, 16},
        {2, 2, 17, 1, 8}}) {
    const Heads h(batch, heads, rows, keys, depth);
    for (const Dims& mask :
         {Dims{}, Dims{rows, keys}, Dims{batch, 1, 1, keys}, Dims{1, keys},
          Dims{batch, heads, rows, keys}, Dims{heads, 1, keys}, Dims{1}}) {
      const Tensor added = mask.empty() ? Tensor() : randn(mask);
      const auto model = [&] { return contiguous(h(added)); };
      const Captured graph(model);
      const bool fused = mask != Dims{1} || keys == 1;
      EXPECT_EQ(graph.count("softmax_product"), fused ? 1 : 0)
          << batch << " " << rows << " " << keys << " mask " << mask.size();
      EXPECT_EQ(graph.count("softmax"), fused ? 0 : 1);
      const Tensor got = graph.replayed();
      EXPECT_LE(distance(got, model()), kTolerance);
      // Each row's sums are the same whatever thread it falls to.
      const int threads = get_num_threads();
      set_num_threads(3 - threads);
      EXPECT_LE(distance(got, graph.replayed()), kTolerance);
      set_num_threads(threads);
    }
  }
}

TEST(FuseAttention, MasksOfInfinity) {
  const Heads h(1, 2, 64, 64, 16);
  const Tensor mask = zeros(Dims{64, 64});
  for (int64_t i = 0; i < 64; ++i)
    for (int64_t j = i + 1; j < 64; ++j)
      mask.data<float>()[i * 64 + j] = -INFINITY;
  const auto model = [&] { return h(mask); };
  const Captured graph(model);
  EXPECT_EQ(graph.count("softmax_product"), 1);
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  // A row without any key is NaN, as softmax has it.
  std::fill_n(mask.data<float>() + 3 * 64, 64, -INFINITY);
  const Tensor got = contiguous(graph.replayed());
  for (int64_t t = 0; t < 64; ++t)
    EXPECT_EQ(std::isnan(got.data<float>()[t * 32]), t == 3) << t;
}

TEST(FuseAttention, MasksWhoseColumnsLieApart) {
  const Heads h(2, 3, 32, 50, 16);
  const Tensor flipped = randn(Dims{50, 32});
  const auto lasts = [&] { return h(t(flipped)); };
  const Captured graph(lasts);
  EXPECT_EQ(graph.count("softmax_product"), 1);
  const Tensor plain = randn(Dims{32, 50});
  EXPECT_EQ(graph.count("copy_"),  // that of the mask is made once
            Captured([&] { return h(plain); }).count("copy_"));
  EXPECT_LE(distance(graph.replayed(), lasts()), kTolerance);
  fill_(flipped, 0.5);
  flipped.data<float>()[7] = 3;
  EXPECT_LE(distance(graph.replayed(), lasts()), kTolerance);
  const auto computed = [&] { return h(t(mul(flipped, 2))); };
  const Captured other(computed);
  EXPECT_EQ(other.count("softmax_product"), 1);
  EXPECT_LE(distance(other.replayed(), computed()), kTolerance);
}

/// Scores of windows get a bias of heads and, as pictures of windows, a mask of
/// windows that is computed in between.
TEST(FuseAttention, TwoMasksOneOfThemInAnotherShape) {
  for (const int64_t batch : {1, 2}) {
    const int64_t windows = 4, heads = 3, n = 49;
    const Heads h(batch * windows, heads, n, n, 32);
    const Tensor bias = randn(Dims{n, n, heads}),
                 mask = randn(Dims{windows, n, n});
    const auto model = [&](const Tensor& first) {
      return [&, first] {
        Tensor s = add(h.scores(), first);
        const Tensor more = mul(mask, 2);
        s = add(view(s, Dims{batch, windows, heads, n, n}),
                view(more, Dims{1, windows, 1, n, n}));
        s = softmax(view(s, Dims{batch * windows, heads, n, n}), -1);
        return matmul(s, Heads::head(h.v));
      };
    };
    const Tensor of_heads = permute(bias, Dims{2, 0, 1});
    const Captured graph(model(of_heads));
    EXPECT_EQ(graph.count("softmax_product"), 1);
    EXPECT_EQ(graph.count("softmax"), 0);
    EXPECT_LE(distance(graph.replayed(), model(of_heads)()), kTolerance);
    // One that differs by windows can't be told apart by pictures.
    const auto by_window = model(randn(Dims{batch * windows, 1, n, n}));
    const Captured other(by_window);
    EXPECT_EQ(other.count("softmax_product"), 0);
    EXPECT_LE(distance(other.replayed(), by_window()), kTolerance);
  }
}

/// A mask along the batch, added to scores in a shape in which it stands where
/// heads do: it must not be taken for one along heads.
TEST(FuseAttention, MasksOfAnotherShapeStayApart) {
  const int64_t batch = 3, heads = 3, n = 32;
  const Heads h(batch, heads, n, n, 16);
  const Tensor mask = randn(Dims{batch, 1, n});
  const auto model = [&] {
    const Tensor s = add(view(h.scores(), Dims{batch, heads * n, n}), mask);
    return matmul(softmax(view(s, Dims{batch, heads, n, n}), -1),
                  Heads::head(h.v));
  };
  const Captured graph(model);
  EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  EXPECT_EQ(graph.count("softmax_product"), 0);
}

/// A mask that is a sum itself is no score, on whichever side it stands.
TEST(FuseAttention, MasksThatAreSums) {
  const Heads h(1, 2, 32, 32, 16);
  const Tensor a = randn(Dims{1, 2, 32, 32}), b = randn(Dims{32, 32});
  for (const bool left : {false, true}) {
    const auto model = [&] {
      const Tensor mask = add(a, b), scores = h.scores();
      const Tensor s = left ? add(mask, scores) : add(scores, mask);
      return matmul(softmax(s, -1), Heads::head(h.v));
    };
    const Captured graph(model);
    EXPECT_EQ(graph.count("softmax_product"), 1) << left;
    EXPECT_LE(distance(graph.replayed(), model()), kTolerance);
  }
}

TEST(FuseAttention, WhatOthersWantStaysApart) {
  const Heads h(1, 2, 32, 32, 16);
  Tensor kept;
  const auto weights = [&] {
    kept = softmax(h.scores(), -1);
    return matmul(kept, Heads::head(h.v));
  };
  EXPECT_EQ(Captured(weights).count("softmax_product"), 0);
  const auto columns = [&] {
    return matmul(softmax(h.scores(), -2), Heads::head(h.v));
  };
  const Captured other(columns);
  EXPECT_EQ(other.count("softmax_product"), 0);
  EXPECT_LE(distance(other.replayed(), columns()), kTolerance);
  const Heads few(1, 2, 4, 32, 16);
  EXPECT_EQ(Captured([&] { return few(); }).count("softmax_product"), 0);
  const Captured without([&] { return h(); },
                         Options{{"fuse_attention"}, false});
  EXPECT_EQ(without.count("softmax"), 1);
}

TEST(FuseAttention, WritesInBetweenAreSeen) {
  const Heads h(1, 2, 32, 32, 16);
  const auto model = [&] {
    const Tensor q = mul(h.q, 1), k = mul(h.k, 1);
    const Tensor scores =
        matmul(Heads::head(q), transpose(Heads::head(k), -2, -1));
    fill_(k, 3);  // of keys that were read
    const Tensor out = matmul(softmax(scores, -1), Heads::head(h.v));
    return add(out, sum(k, Dims{0, 1, 2, 3}, false));
  };
  EXPECT_LE(distance(Captured(model).replayed(), model()), kTolerance);
}

TEST(FuseAttention, RoundsWhereItMay) {
  if (!has_pair_products())
    GTEST_SKIP() << "this processor has no products of bfloat16";
  const Heads h(1, 3, 100, 90, 64);
  const Tensor want = h();
  set_allows_bf16(Bf16::kMatmul, true);
  const Captured graph([&] { return h(); });
  set_allows_bf16(Bf16::kMatmul, false);
  EXPECT_EQ(graph.count("softmax_product"), 1);
  const double far = distance(graph.replayed(), want);
  // Scores of 64 products of size 1, and weights and values, rounded at 2^-9.
  EXPECT_LE(far, 6 * 5 * 0x1p-9);
  EXPECT_GT(far, 1e-5);
}

TEST(Straighten, TransposedSumsBecomeRows) {
  const Tensor x = randn(Dims{1, 24, 50}), w = randn(Dims{24, 24});
  const Tensor position = randn(Dims{50, 24});
  const auto model = [&] {
    Tensor y = add(transpose(mul(x, 2), 1, 2), position);  // lies by columns
    for (int i = 0; i < 3; ++i) y = add(y, matmul(contiguous(y), t(w)));
    return contiguous(y);
  };
  const Captured graph(model);
  EXPECT_EQ(graph.count("copy_"), 0);
  EXPECT_EQ(graph.count("add"), 1);  // the others are part of products
  const Captured before(model, Options{{"straighten"}, false});
  EXPECT_EQ(before.count("copy_"), 4);
  // Values grow by up to 24 * 24 with each product.
  EXPECT_LE(distance(graph.replayed(), model()),
            1e-5 * distance(model(), mul(model(), 0)));
}

TEST(Straighten, ValuesThatOthersSeeStayAsTheyLie) {
  const Tensor x = randn(Dims{8, 12}), rows = randn(Dims{12, 8});
  const auto model = [&] {
    const Tensor y = mul(transpose(x, 0, 1), 2);
    const Tensor flat = as_strided(y, Dims{96}, Dims{1}, 0);  // by memory
    return add(sum(mul(flat, flat), Dims{0}, false), add(add(y, rows), rows));
  };
  EXPECT_LE(distance(Captured(model).replayed(), model()), 1e-4);
  // A copy whose source is written once more is none too many.
  const auto written = [&] {
    const Tensor y = mul(rows, 2), z = clone(y);
    mul_(y, 3);
    return add(y, z);
  };
  EXPECT_EQ(distance(Captured(written).replayed(), written()), 0);
  const auto target = [&] {
    const Tensor y = mul(rows, 2), z = clone(y);
    mul_(z, 3);
    return add(y, z);
  };
  EXPECT_EQ(distance(Captured(target).replayed(), target()), 0);
}

}  // namespace
}  // namespace hotaru::graph
