// The order of captured calls, and memory for calls that run in any order.
#include "hotaru/graph/program/order.h"

#include <gtest/gtest.h>

#include <random>

#include "hotaru/graph/capture/capture.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/program/memory_plan.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::graph {
namespace {

template <class Body>
Region captured(const Body& body) {
  const Stream stream = Stream::queued();
  Capture capture(stream);
  Region region;
  {
    const StreamGuard guard(stream);
    body();
  }
  region.nodes = capture.end();
  region.values = intermediates(region.nodes);
  return region;
}

/// precedes[b][a], by comparing all calls with all.
std::vector<std::vector<bool>> slow_order(const Nodes& nodes) {
  std::vector<std::vector<bool>> precedes(nodes.size());
  for (size_t b = 0; b < nodes.size(); ++b) {
    precedes[b].resize(nodes.size());
    const Touches mine = touches_of(nodes[b]->call());
    for (size_t a = b; a-- > 0;) {
      if (!conflict(touches_of(nodes[a]->call()), mine)) continue;
      precedes[b][a] = true;
      for (size_t c = 0; c < a; ++c)
        if (precedes[a][c]) precedes[b][c] = true;
    }
  }
  return precedes;
}

/// Calls on slices that overlap in part, of memory that lasts and of values.
Region random_calls(unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<Tensor> v;
  for (int i = 0; i < 3; ++i) v.push_back(zeros(Dims{64}));
  return captured([&] {
    for (int i = 0; i < 40; ++i) {
      const auto slice = [&] {
        const Tensor& t = v[draw() % v.size()];
        const int64_t begin = int64_t(draw() % 48);
        return narrow(t, 0, begin, 16);
      };
      if (draw() % 4 == 0)
        v.push_back(mul(zeros(Dims{64}), zeros(Dims{64})));
      else
        copy_(slice(), neg(slice()));
    }
  });
}

TEST(CallOrder, IsThatOfTheBytesTouched) {
  size_t free = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Region region = random_calls(seed);
    const CallOrder order = order_of(region.nodes);
    const auto want = slow_order(region.nodes);
    ASSERT_EQ(order.size(), want.size());
    for (size_t b = 0; b < want.size(); ++b)
      for (size_t a = 0; a < b; ++a) {
        ASSERT_EQ(order.precedes(a, b), want[b][a])
            << "program " << seed << ": " << a << " before " << b;
        free += !want[b][a];
      }
  }
  EXPECT_GT(free, 1000u);
}

TEST(CallOrder, LeavesOutWhatOthersImply) {
  CallOrder order(4);
  order.add({});
  order.add({0, 0});
  order.add({});
  order.add({0, 1, 2});
  EXPECT_EQ(order.after(1).size(), 1u);
  const auto last = order.after(3);
  EXPECT_EQ((std::vector<uint32_t>{last.begin(), last.end()}),
            (std::vector<uint32_t>{2, 1}));
  EXPECT_FALSE(order.precedes(3, 0));
  EXPECT_FALSE(order.precedes(1, 1));
  EXPECT_FALSE(order.precedes(0, 2));
}

TEST(CallOrder, OfTooManyCallsIsTheirSequence) {
  CallOrder order(CallOrder::kMostCalls + 1);
  for (size_t i = 0; i <= CallOrder::kMostCalls; ++i) order.add({});
  EXPECT_TRUE(order.precedes(0, CallOrder::kMostCalls));
  EXPECT_EQ(order.after(7).size(), 1u);
  EXPECT_TRUE(order.after(0).empty());
}

TEST(MemoryPlan, InAnyOrderNoTwoLivesShareBytes) {
  size_t shared = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Region region = random_calls(seed);
    const auto want = slow_order(region.nodes);
    const MemoryPlan plan = plan_memory(region, order_of(region.nodes));
    const auto users = [&](const Placement& p) {
      std::vector<size_t> out;
      for (size_t i = 0; i < region.nodes.size(); ++i)
        for (const Operand& o : region.nodes[i]->call().operands())
          if (ordered_of(o) == p.storage) out.push_back(i);
      return out;
    };
    const auto all_before = [&](const Placement& a, const Placement& b) {
      for (const size_t i : users(a))
        for (const size_t j : users(b))
          if (i >= j || !want[j][i]) return false;
      return true;
    };
    for (const Placement& a : plan.placements) {
      EXPECT_EQ(a.offset % 256, 0u);
      for (const Placement& b : plan.placements) {
        if (a.storage == b.storage || a.offset >= b.offset + b.nbytes ||
            b.offset >= a.offset + a.nbytes)
          continue;
        ++shared;
        ASSERT_TRUE(all_before(a, b) || all_before(b, a)) << "program " << seed;
      }
    }
  }
  EXPECT_GT(shared, 100u);
}

}  // namespace
}  // namespace hotaru::graph
