// Elementwise calls of graphs, prepared and fused: what becomes one call, and
// that results stay the same to the bit.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>

#include "hotaru/backend/cpu/block_cache.h"
#include "hotaru/core/error.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/graph.h"
#include "hotaru/graph/passes/passes.h"
#include "hotaru/graph/program/fused_call.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/captured_graph.h"

namespace {
std::atomic<int64_t> allocations{0};

void* counted(size_t size, size_t alignment) {
  ++allocations;
  size = (size + alignment - 1) / alignment * alignment;
  if (void* p = std::aligned_alloc(alignment, size)) return p;
  throw std::bad_alloc();
}
}  // namespace

// Whoever asks for memory comes through here, except for the allocator's large
// blocks.
void* operator new(size_t size) {
  return counted(size, 16);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return counted(size, size_t(alignment));
}
// Sanitizers have these of their own, which would not go with ours.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void* operator new(size_t size, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
  ++allocations;
  const size_t a = size_t(alignment);
  return std::aligned_alloc(a, (size + a - 1) / a * a);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace hotaru::graph {
namespace {

template <class Body>
Ref<Graph> captured(const Body& body, bool optimise = true) {
  Options options{{}, true};  // the passes that keep all bits
  if (!optimise)
    for (const Pass& pass : passes()) options.without.emplace_back(pass.name);
  return captured_graph(body, std::move(options));
}

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> out;
  for (const auto& node : graph.program().nodes()) out.push_back(title(*node));
  return out;
}
using Names = std::vector<std::string>;

/// Values of many magnitudes and signs, for any dtype.
Tensor random_tensor(std::mt19937& rng, IntSpan sizes, DType dtype) {
  const Tensor wide = zeros(sizes, DType::kFloat32);
  std::uniform_real_distribution<float> value(-4, 4);
  for (int64_t i = 0; i < wide.numel(); ++i) wide.data<float>()[i] = value(rng);
  return to(wide, dtype);
}

std::string bytes(const Tensor& t) {
  const Tensor dense = contiguous(t);
  return {static_cast<const char*>(dense.raw_data()),
          size_t(dense.numel()) * itemsize(dense.dtype())};
}

TEST(Fuse, AChainIsOneCallAndLeavesNothingInMemory) {
  const Tensor x = ones(Dims{5, 7}), w = full(Dims{7}, 2.0), b = ones(Dims{7});
  Tensor y;
  const auto body = [&] { y = add(gelu(add(mul(x, w), b)), x); };
  const Ref<Graph> graph = captured(body);
  EXPECT_EQ(names(*graph), Names{"mul + add + gelu + add"});
  EXPECT_EQ(graph->program().plan().nbytes, 0u);
  graph->replay();
  const std::string fused = bytes(y);
  const Ref<Graph> plain = captured(body, false);
  EXPECT_EQ(names(*plain), (Names{"mul", "add", "gelu", "add"}));
  plain->replay();
  EXPECT_EQ(bytes(y), fused);
  const std::string eager = bytes(add(gelu(add(mul(x, w), b)), x));
  EXPECT_EQ(eager, fused);
}

TEST(Fuse, ValuesThatAreUsedLaterAreWrittenOut) {
  const Tensor x = full(Dims{6}, 3.0);
  Tensor h, total, y;
  const Ref<Graph> graph = captured([&] {
    h = mul(x, x);
    const Tensor t = add(h, x);
    total = cumsum(t, 0);
    y = mul(t, h);
  });
  EXPECT_EQ(names(*graph), (Names{"mul + add + mul", "cumsum"}));
  EXPECT_EQ(graph->program().plan().placements.size(), 1u);
  graph->replay();
  EXPECT_EQ(h.data<float>()[5], 9);
  EXPECT_EQ(total.data<float>()[5], 72);
  EXPECT_EQ(y.data<float>()[5], 108);
}

TEST(Fuse, CallsInBetweenKeepTheirPlace) {
  const Tensor x = ones(Dims{4}), other = ones(Dims{9});
  Tensor y, z, s;
  const Ref<Graph> graph = captured([&] {
    const Tensor h = add(x, x);
    z = cumsum(other, 0);  // independent: goes before
    s = cumsum(h, 0);      // needs h: goes after
    y = mul(h, x);         // joins
    y = add(y, s);         // needs s: can't be moved up
  });
  EXPECT_EQ(names(*graph), (Names{"cumsum", "add + mul", "cumsum", "add"}));
  graph->replay();
  EXPECT_EQ(y.data<float>()[3], 10);
  EXPECT_EQ(z.data<float>()[8], 9);
}

TEST(Fuse, ReductionsOfRowsJoin) {
  std::mt19937 rng(3);
  for (const Dims& shape : std::vector<Dims>{
           {4, 8}, {1, 100}, {300, 7}, {7, 1000}, {100, 2048}, {3, 40, 50}}) {
    const Tensor x = random_tensor(rng, shape, DType::kFloat32);
    const Tensor w = random_tensor(rng, Dims{shape.back()}, DType::kFloat32);
    Tensor y, high, h;
    const auto body = [&] {
      h = mul(x, x);
      const Tensor scale = rsqrt(add(mean(h, Dims{-1}, true), 1e-6));
      high = amax(sub(h, w), Dims{-1});
      y = mul(mul(x, scale), w);
    };
    const Ref<Graph> graph = captured(body);
    EXPECT_EQ(names(*graph),
              (Names{"mul + sum + add + amax", "add + rsqrt", "mul + mul"}));
    graph->replay();
    const std::string all[] = {bytes(y), bytes(high), bytes(h)};
    body();
    EXPECT_TRUE(bytes(y) == all[0]) << shape_text(shape);
    EXPECT_TRUE(bytes(high) == all[1]) << shape_text(shape);
    EXPECT_TRUE(bytes(h) == all[2]) << shape_text(shape);
  }
  // Not of what is too long, nor of columns, nor of other orders in memory.
  const Tensor wide = ones(Dims{2, 5000}), x = ones(Dims{8, 8});
  Tensor y;
  const auto calls = [&](const auto& body) {
    return names(*captured(body)).size();
  };
  EXPECT_EQ(calls([&] { y = sum(mul(wide, wide), Dims{-1}); }), 2u);
  EXPECT_EQ(calls([&] { y = sum(mul(x, x), Dims{0}); }), 2u);
  EXPECT_EQ(calls([&] { y = sum(mul(t(x), t(x)), Dims{-1}); }), 2u);
  EXPECT_EQ(calls([&] { y = sum(mul(x, x)); }), 1u);
}

TEST(Fuse, InPlaceCallsOnTheSameElementsJoin) {
  const Tensor x = full(Dims{3, 4}, 2.0);
  const Ref<Graph> graph = captured([&] {
    add_(x, x);
    mul_(x, x);
    const Tensor h = add(x, x);
    mul_(h, x);
    copy_(x, h);
  });
  EXPECT_EQ(names(*graph).size(), 1u);
  graph->replay();
  EXPECT_EQ(x.data<float>()[11], 512);
}

TEST(Fuse, OverlappingViewsDoNot) {
  const Tensor x = arange(0, 8, 1, DType::kFloat32);
  const auto part = [&](int64_t from) { return narrow(x, 0, from, 4); };
  {
    // Reads what the first wrote, shifted.
    Tensor y;
    const Ref<Graph> graph = captured([&] {
      add_(part(0), part(4));
      y = mul(part(2), part(2));
    });
    EXPECT_EQ(names(*graph).size(), 2u);
  }
  {
    // Writes what the first read, shifted.
    Tensor y;
    const Ref<Graph> graph = captured([&] {
      y = mul(part(0), part(4));
      add_(part(2), y);
    });
    EXPECT_EQ(names(*graph).size(), 2u);
  }
  {
    // Apart: may be fused.
    Tensor y;
    const Ref<Graph> graph = captured([&] {
      y = mul(part(0), part(4));
      add_(part(4), y);
    });
    EXPECT_EQ(names(*graph).size(), 1u);
  }
  {
    // A row that is written and then broadcast.
    const Tensor m = ones(Dims{4, 4});
    Tensor y;
    const Ref<Graph> graph = captured([&] {
      const Tensor row = select(m, 0, 2);
      add_(m, m);
      y = mul(m, row);
    });
    EXPECT_EQ(names(*graph).size(), 2u);
    graph->replay();
    EXPECT_EQ(y.data<float>()[0], 4);
  }
}

TEST(Fuse, StoragesOfTheSameMemoryAreNoticed) {
  const Tensor x = arange(0, 8, 1, DType::kFloat32);
  const auto alias = [&](int64_t from) {
    auto storage = make_ref<Storage>(x.data<float>() + from, 16, Device{},
                                     Ref<RefCounted>(x.storage().get()));
    return Tensor(
        make_ref<TensorImpl>(std::move(storage), DType::kFloat32, Dims{4}, 4));
  };
  const Tensor a = alias(0), b = alias(1);
  Tensor y;
  const Ref<Graph> graph = captured([&] {
    add_(a, a);
    y = add(b, b);
  });
  EXPECT_EQ(names(*graph).size(), 2u);
  graph->replay();
  EXPECT_EQ(y.data<float>()[0], 4);
}

TEST(Fuse, CanBeTurnedOff) {
  const Tensor x = ones(Dims{4});
  Tensor y;
  const auto run = [&](Options options) {
    const Ref<Graph> graph =
        captured_graph([&] { y = add(add(x, x), x); }, std::move(options));
    return graph->program().nodes().size();
  };
  EXPECT_EQ(run({{"fuse_pointwise"}, false}), 2u);
  EXPECT_EQ(run({{}, true}), 1u);  // exact: stays in bitwise mode
}

TEST(Fuse, AnErrorNamesThePart) {
  const Tensor x = full(Dims{4}, 1.0, DType::kInt64);
  const Tensor zero = full(Dims{4}, 0.0, DType::kInt64);
  Tensor y;
  const Ref<Graph> graph = captured([&] { y = add(remainder(x, zero), x); });
  ASSERT_EQ(names(*graph).size(), 1u);
  try {
    graph->replay();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("of remainder on"), std::string::npos)
        << e.what();
  }
  fill_(zero, 1);
  graph->replay();
  EXPECT_EQ(y.data<int64_t>()[3], 1);
}

TEST(Fuse, DuplicatesAreComputedOnce) {
  const Tensor x = full(Dims{4}, 3.0), w = ones(Dims{4});
  Tensor y, z;
  Options unfused;
  unfused.without.push_back("fuse_pointwise");
  const auto nodes = [&](const auto& body) {
    const Ref<Graph> graph = captured_graph(body, unfused);
    graph->replay();
    return graph->program().nodes().size();
  };
  // The second product is dropped, also where a view of it is read.
  EXPECT_EQ(nodes([&] {
              const Tensor a = mul(x, x), b = mul(x, x);
              y = sub(a, view(b, Dims{2, 2}).dim() == 2 ? b : a);
              z = add(narrow(b, 0, 1, 2), narrow(a, 0, 0, 2));
            }),
            3u);
  EXPECT_EQ(y.data<float>()[0], 0);
  EXPECT_EQ(z.data<float>()[1], 18);
  // Not if an input changes in between,
  EXPECT_EQ(nodes([&] {
              const Tensor a = mul(x, w);
              add_(w, w);
              y = add(a, mul(x, w));
            }),
            4u);
  EXPECT_EQ(y.data<float>()[0], 9);
  // nor if one of the results changes later,
  EXPECT_EQ(nodes([&] {
              const Tensor a = mul(x, x), b = mul(x, x);
              add_(a, x);
              y = add(a, b);
            }),
            4u);
  EXPECT_EQ(y.data<float>()[0], 21);
  // nor with other numbers, nor if somebody holds the second.
  EXPECT_EQ(nodes([&] { y = add(add(x, x, 2), add(x, x, 3)); }), 3u);
  EXPECT_EQ(y.data<float>()[0], 21);
  EXPECT_EQ(nodes([&] {
              y = mul(x, x);
              z = mul(x, x);
            }),
            2u);
}

TEST(Fuse, TensorsMayMoveBetweenReplays) {
  for (const bool optimise : {false, true}) {
    const Tensor x = ones(Dims{4});
    Tensor y;
    const Ref<Graph> graph = captured([&] { y = add(mul(x, x), x); }, optimise);
    graph->replay();
    EXPECT_EQ(y.data<float>()[0], 2);
    resize_(x, Dims{100000});
    fill_(x, 3);
    graph->replay();
    EXPECT_EQ(y.data<float>()[3], 12);
    x.storage()->resize(8);
    EXPECT_THROW(graph->replay(), Error);
    x.storage()->resize(16);
  }
}

TEST(Fuse, AReplayAllocatesNothing) {
  for (const int64_t rows : {1, 3, 400}) {
    const Tensor x = ones(Dims{rows, 256}), w = ones(Dims{256});
    Tensor y, z;
    for (const bool optimise : {false, true}) {
      const Ref<Graph> graph = captured(
          [&] {
            y = gelu(add(mul(x, w), w));
            z = where(gt(y, x), to(to(y, DType::kFloat64), DType::kFloat32), x);
          },
          optimise);
      graph->replay();  // results get their memory
      cpu::BlockCache::instance().clear();
      const int64_t before = allocations;
      for (int i = 0; i < 10; ++i) graph->replay();
      EXPECT_EQ(allocations - before, 0) << rows << " rows, " << optimise;
      // No large block was taken and given back.
      EXPECT_EQ(cpu::BlockCache::instance().kept(), 0u);
    }
  }
}

TEST(Fuse, AReplayOfConvolutionsAndBranchesAllocatesNothing) {
  const int threads = get_num_threads();
  for (const int n : {1, 2}) {
    set_num_threads(n);
    const Tensor x = ones(Dims{1, 3, 40, 40}), a = ones(Dims{64, 3, 3, 3}),
                 b = ones(Dims{64, 64, 3, 3}), w = ones(Dims{60, 60});
    Graph graph;
    const Stream stream = Stream::queued();
    Tensor y, z, v;
    graph.capture_begin(stream);
    {
      const StreamGuard guard(stream);
      const auto conv = [](const Tensor& in, const Tensor& weight) {
        return relu(convolution(in, weight, {}, Dims{1}, Dims{1}, Dims{1},
                                false, Dims{0}, 1));
      };
      y = conv(conv(x, a), b);
      z = matmul(matmul(w, w), w);
      v = matmul(matmul(w, w), w);
    }
    graph.capture_end();
    const auto replays = [&] {
      const int64_t before = allocations;
      for (int i = 0; i < 10; ++i) graph.replay();
      return allocations - before;
    };
    // Each thread has room of its own from the first time that it gets a branch
    // of each kind: so often something may be new.
    int64_t made = replays();
    for (int i = 0; i < 8 && made > 0; ++i) made = replays();
    EXPECT_EQ(made, 0) << n << " threads";
    cpu::BlockCache::instance().clear();
    replays();
    EXPECT_EQ(cpu::BlockCache::instance().kept(), 0u);
    EXPECT_EQ(graph.program().stretches().empty(), n == 1);
  }
  set_num_threads(threads);
}

/// Random programs over tensors of one shape and what broadcasts to it.
class Chain {
 public:
  explicit Chain(unsigned seed) : seed_(seed) {}

  /// Runs it on fresh inputs; results are all tensors that it made or changed.
  std::vector<std::string> run(bool eager, bool optimise, size_t* nodes) const {
    std::mt19937 rng(seed_);
    const std::vector<Tensor> inputs = make_inputs(rng);
    std::vector<Tensor> results;
    if (eager) {
      body(rng, inputs, results);
    } else {
      const Ref<Graph> graph =
          captured([&] { body(rng, inputs, results); }, optimise);
      graph->replay();
      if (nodes) *nodes += graph->program().nodes().size();
    }
    std::vector<std::string> out;
    for (const Tensor& t : results) out.push_back(bytes(t));
    for (const Tensor& t : inputs) out.push_back(bytes(t));
    return out;
  }

 private:
  static size_t pick(std::mt19937& rng, size_t n) { return rng() % n; }

  std::vector<Tensor> make_inputs(std::mt19937& rng) const {
    static const std::vector<Dims> kShapes{
        {1},       {4},        {63},       {1025},       {5, 7},
        {3, 1000}, {2, 3, 5},  {64, 64},   {2, 1, 9, 3}, {},
        {300, 7},  {40, 2000}, {4, 33, 65}};
    const Dims shape = kShapes[pick(rng, kShapes.size())];
    static const DType kTypes[] = {DType::kFloat32, DType::kFloat32,
                                   DType::kFloat64, DType::kBFloat16,
                                   DType::kInt32};
    std::vector<Tensor> out;
    for (int i = 0; i < 5; ++i) {
      const DType dtype = kTypes[pick(rng, std::size(kTypes))];
      Dims sizes = shape;
      switch (pick(rng, 5)) {
        case 0:  // a row
          if (!sizes.empty()) sizes = Dims{sizes.back()};
          break;
        case 1:  // a column
          if (!sizes.empty()) sizes.back() = 1;
          break;
        case 2: {  // its memory in another order
          const auto n = int64_t(sizes.size());
          if (n < 2) break;
          Dims turned = sizes;
          std::swap(turned[0], turned[size_t(n - 1)]);
          out.push_back(transpose(random_tensor(rng, turned, dtype), 0, n - 1));
          continue;
        }
        default:
          break;
      }
      out.push_back(random_tensor(rng, sizes, dtype));
    }
    out.push_back(random_tensor(rng, shape, DType::kFloat32));
    return out;
  }

  void body(std::mt19937& rng, const std::vector<Tensor>& inputs,
            std::vector<Tensor>& results) const {
    std::vector<Tensor> values = inputs;
    const auto any = [&]() -> const Tensor& {
      // Recent ones, so that there are chains.
      const size_t n = values.size();
      return values[pick(rng, 2) ? pick(rng, n) : n - 1 - pick(rng, 3)];
    };
    const size_t steps = 2 + pick(rng, 14);
    for (size_t i = 0; i < steps; ++i) {
      const Tensor a = any(), b = any();
      Tensor out;
      switch (pick(rng, 17)) {
        case 0:
        case 1:
          out = add(a, b);
          break;
        case 2:
        case 3:
          out = mul(a, b);
          break;
        case 4:
          out = maximum(a, b);
          break;
        case 5:
          out = tanh(a);
          break;
        case 6:
          out = exp(minimum(a, b));
          break;
        case 7:
          out = where(gt(a, b), a, b);
          break;
        case 8:
          out = to(a, pick(rng, 2) ? DType::kFloat32 : DType::kFloat64);
          break;
        case 9:
          out = gelu(to(a, DType::kFloat32));
          break;
        case 10:  // in place, where the result fits
          if (same(add(a, b).sizes(), a.sizes()) && a.dtype() == b.dtype())
            add_(a, b);
          break;
        case 11:
          if (a.dim() > 0 && a.size(0) > 1) {
            // Overlapping views of one storage.
            const int64_t n = a.size(0) - 1;
            copy_(narrow(a, 0, 0, n), mul(narrow(a, 0, 1, n), 2));
          }
          break;
        case 12:
          out = add(mul(a, 3), 1);
          break;
        case 13:
          out = pick(rng, 3) ? sub(a, b) : sum(a);
          break;
        default:  // of rows
          if (a.dim() == 0) break;
          switch (pick(rng, 3)) {
            case 0:
              out = amax(a, Dims{-1}, true);
              break;
            case 1:
              out = mean(mul(a, 0.5), Dims{-1}, true);
              break;
            default:
              out = sum(a, Dims{-1}, true);
          }
      }
      if (!out.defined()) continue;
      values.push_back(out);
      if (pick(rng, 4) == 0) results.push_back(out);
    }
    results.push_back(values.back());
  }

  const unsigned seed_;
};

TEST(Fuse, RandomChainsGiveTheSameBits) {
  size_t plain_nodes = 0, fused_nodes = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const Chain chain(seed);
    const auto eager = chain.run(true, false, nullptr);
    const auto plain = chain.run(false, false, &plain_nodes);
    const auto fused = chain.run(false, true, &fused_nodes);
    ASSERT_TRUE(plain == eager) << "seed " << seed;
    ASSERT_TRUE(fused == eager) << "seed " << seed;
  }
  EXPECT_LT(fused_nodes * 3, plain_nodes * 2);
}

TEST(Fuse, AllSizesAroundTilesAndLargeOnesInParallel) {
  std::mt19937 rng(1);
  std::vector<Dims> shapes;
  for (const int64_t n :
       {1, 63, 64, 65, 1023, 1024, 1025, 2049, 32767, 32768, 32769, 100003})
    shapes.push_back(Dims{n});
  shapes.insert(shapes.end(), {{1000, 100}, {37, 1025}, {3, 50000}, {9999, 7}});
  for (const Dims& shape : shapes) {
    const Tensor x = random_tensor(rng, shape, DType::kFloat32);
    const Tensor w = random_tensor(rng, Dims{shape.back()}, DType::kFloat32);
    Tensor y, mask;
    const auto body = [&] {
      const Tensor h = tanh(add(mul(x, w), 0.5));
      mask = gt(h, 0);
      y = mul(to(h, DType::kFloat64), to(mask, DType::kFloat64));
    };
    const Ref<Graph> graph = captured(body);
    EXPECT_EQ(names(*graph).size(), 1u);
    for (int i = 0; i < 2; ++i) graph->replay();
    const std::string values = bytes(y), flags = bytes(mask);
    body();
    EXPECT_TRUE(bytes(y) == values) << shape_text(shape);
    EXPECT_TRUE(bytes(mask) == flags) << shape_text(shape);
  }
}

}  // namespace
}  // namespace hotaru::graph
