// Independent calls of a graph, side by side.
#include <gtest/gtest.h>

#include <random>

#include "hotaru/core/error.h"
#include "hotaru/graph/graph.h"
#include "hotaru/graph/passes/branches.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::graph {
namespace {

/// The calls of body(), branches found as if going apart cost `fork_join`.
template <class Body>
Region region_of(const Body& body, double fork_join) {
  const Stream stream = Stream::queued();
  Region region;
  Capture capture(stream);
  {
    const StreamGuard guard(stream);
    body();
  }
  region.nodes = capture.end();
  region.values = intermediates(region.nodes);
  find_branches(region, fork_join);
  return region;
}

void run(Region region) {
  Program(std::move(region), make_ref<Pool>()).run();
}

class Branches : public testing::Test {
 protected:
  void SetUp() override {
    threads_ = get_num_threads();
    set_num_threads(2);
  }
  void TearDown() override { set_num_threads(threads_); }

 private:
  int threads_ = 1;
};

TEST_F(Branches, IndependentProductsGoApartAndMeetWhereTheyAreNeeded) {
  const Tensor a = randn(Dims{20, 20}), b = randn(Dims{20, 20});
  Tensor y;
  const Region region = region_of(
      [&] {
        const Tensor left = matmul(matmul(a, a), a);
        const Tensor right = matmul(matmul(b, b), b);
        y = add(left, right);
      },
      10);
  ASSERT_EQ(region.stretches.size(), 1u);
  EXPECT_EQ(region.stretches[0].begins, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(region.stretches[0].end, 4u);
  EXPECT_EQ(region.nodes[4]->name(), "add");
}

TEST_F(Branches, AChainStaysInOneThread) {
  const Tensor a = randn(Dims{20, 20});
  const auto chain = [&] { matmul(matmul(matmul(a, a), a), a); };
  EXPECT_TRUE(region_of(chain, 0).stretches.empty());
}

TEST_F(Branches, WhatCostsLessThanGoingApartStaysTogether) {
  const Tensor a = randn(Dims{20, 20}), b = randn(Dims{20, 20});
  const auto two = [&] { matmul(a, a), matmul(b, b); };
  EXPECT_EQ(region_of(two, 10).stretches.size(), 1u);
  EXPECT_TRUE(region_of(two, 100'000).stretches.empty());
  set_num_threads(1);
  EXPECT_TRUE(region_of(two, 10).stretches.empty());
}

TEST_F(Branches, ValuesOfBranchesDoNotShareMemory) {
  const Tensor a = randn(Dims{16, 16}), b = randn(Dims{16, 16});
  Tensor y;
  const Region region = region_of(
      [&] {
        const Tensor left = matmul(matmul(matmul(a, a), a), a);
        const Tensor right = matmul(matmul(matmul(b, b), b), b);
        y = add(left, right);
      },
      10);
  ASSERT_EQ(region.stretches.size(), 1u);
  const MemoryPlan plan = plan_memory(region);
  ASSERT_EQ(plan.placements.size(), 6u);
  EXPECT_EQ(plan.nbytes, 6 * 1024u);
}

TEST_F(Branches, AnErrorOfABranchIsTheGraphs) {
  const Tensor a = randn(Dims{30, 30}), b = randn(Dims{30, 30});
  const Tensor index = full(Dims{1}, 40.0, DType::kInt64);
  Region region = region_of(
      [&] {
        matmul(matmul(a, a), a);
        matmul(index_select(b, 0, index), b);
      },
      10);
  ASSERT_EQ(region.stretches.size(), 1u);
  EXPECT_THROW(run(std::move(region)), Error);
}

/// A random program over some matrices, in place and through views, too.
struct RandomProgram {
  explicit RandomProgram(unsigned seed) {
    std::mt19937 draw(seed);
    for (int i = 0; i < 24; ++i)
      steps.push_back({int(draw() % 6), draw() % 5, draw() % 5, draw() % 5});
  }

  std::vector<Tensor> run(std::vector<Tensor> v) const {
    for (const auto& [what, to, a, b] : steps) switch (what) {
        case 0:
          v[to] = matmul(v[a], v[b]);
          break;
        case 1:
          v[to] = add(v[a], v[b]);
          break;
        case 2:
          v[to] = tanh(v[a]);
          break;
        case 3:
          add_(v[to], tanh(v[a]));
          break;
        case 4:
          copy_(select(v[to], 0, 1), select(tanh(v[a]), 0, 2));
          break;
        default:
          v[to] = transpose(v[a], 0, 1);
      }
    return v;
  }

  struct Step {
    int what;
    size_t to, a, b;
  };
  std::vector<Step> steps;
};

TEST_F(Branches, RandomProgramsGiveEqualBits) {
  size_t stretches = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RandomProgram program(seed);
    const auto inputs = [] {
      default_generator().manual_seed(3);
      std::vector<Tensor> v;
      for (int i = 0; i < 5; ++i) v.push_back(randn(Dims{4, 4}));
      return v;
    };
    const std::vector<Tensor> want = program.run(inputs());
    std::vector<Tensor> got;
    const std::vector<Tensor> v = inputs();
    Region region = region_of([&] { got = program.run(v); }, 0);
    stretches += region.stretches.size();
    run(std::move(region));
    for (size_t i = 0; i < want.size(); ++i) {
      const Tensor x = clone(want[i]), y = clone(got[i]);
      ASSERT_EQ(std::memcmp(x.data<float>(), y.data<float>(), 64), 0)
          << "program " << seed << ", value " << i;
    }
  }
  EXPECT_GT(stretches, 100u);  // the search finds some
}

}  // namespace
}  // namespace hotaru::graph
