// Sums, means and maxima of bags of rows of a table.
#include "hotaru/backend/common/index/embedding_bag.h"

#include <algorithm>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/index/bag_simd.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<FloatingTypes> kBagTypes{0, "embedding_bag"};

struct Bags {
  explicit Bags(const KernelCall& call)
      : a(call.attributes<BagAttributes>()),
        rows(call.tensor(3).size(0)),
        width(call.tensor(3).size(1)),
        positions(call.tensor(4).numel()),
        count(call.tensor(2).numel()),
        dtype(call.tensor(3).dtype()),
        indices(call.tensor(4).data<int64_t>()),
        offsets(call.tensor(5).data<int64_t>()) {}

  int64_t begin(int64_t bag) const { return offsets[bag]; }
  int64_t end(int64_t bag) const {
    const bool last = bag + 1 == count;
    return last && (a.to_end || !a.last_offset) ? positions : offsets[bag + 1];
  }

  [[noreturn]] void refuse(int64_t i) const {
    HOTARU_CHECK(!says_place(a, dtype), "Index ", i, " of input takes value ",
                 indices[i], " which is not in the valid range [0, ", rows,
                 ")");
    fail(
        "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found "
        "idx to be ",
        indices[i]);
  }

  void check() const {
    for (int64_t i = 0; i < positions; ++i)
      if (indices[i] < 0 || indices[i] >= rows) refuse(i);
    const int64_t n = count + a.last_offset;
    if (n == 0) return;
    HOTARU_CHECK(offsets[0] == 0,
                 "offsets[0] has to be 0, i.e., the first sequence in the "
                 "mini-batch has to start from position 0. However, got ",
                 offsets[0]);
    for (int64_t i = 1; i < n; ++i)
      HOTARU_CHECK(offsets[i - 1] <= offsets[i],
                   "offsets must not decrease, but offsets[", i, "] is ",
                   offsets[i], " after ", offsets[i - 1]);
    HOTARU_CHECK(offsets[n - 1] <= positions,
                 "offsets[-1] can not be greater than input's length ",
                 positions, " but got offsets[-1] of ", offsets[n - 1]);
  }

  const BagAttributes& a;
  int64_t rows, width, positions, count;
  DType dtype;
  const int64_t *indices, *offsets;
};

/// One bag into `sum`; returns how many rows it counts.
template <class T>
int64_t add_up(const Bags& bags, int64_t bag, const T* weight, const T* factors,
               OpMath<T>* sum) {
  const int64_t first = bags.begin(bag), end = bags.end(bag);
  if constexpr (std::is_floating_point_v<T>) {
    const int64_t* rows = bags.indices + first;
    sum_rows(weight, bags.width, rows, end - first, bags.a.padding_idx,
             factors ? factors + first : nullptr, sum);
    return end - first -
           std::count(rows, bags.indices + end, bags.a.padding_idx);
  }
  std::fill_n(sum, bags.width, OpMath<T>(0));
  int64_t counted = 0;
  for (int64_t p = first; p < end; ++p) {
    if (bags.indices[p] == bags.a.padding_idx) continue;
    const T* row = weight + bags.indices[p] * bags.width;
    const auto factor = factors ? OpMath<T>(factors[p]) : OpMath<T>(1);
    HOTARU_INDEPENDENT
    for (int64_t i = 0; i < bags.width; ++i)
      sum[i] += factor * OpMath<T>(row[i]);
    ++counted;
  }
  return counted;
}

/// As PyTorch does, a NaN stays where it comes first and loses elsewhere.
template <class T>
int64_t take_largest(const Bags& bags, int64_t bag, const T* weight, T* out,
                     int64_t* winner) {
  std::fill_n(out, bags.width, T(0));
  std::fill_n(winner, bags.width, 0);
  int64_t counted = 0;
  for (int64_t p = bags.begin(bag); p < bags.end(bag); ++p) {
    const int64_t index = bags.indices[p];
    if (index == bags.a.padding_idx) continue;
    const T* row = weight + index * bags.width;
    for (int64_t i = 0; i < bags.width; ++i)
      if (counted == 0 || OpMath<T>(row[i]) > OpMath<T>(out[i]))
        out[i] = row[i], winner[i] = index;
    ++counted;
  }
  return counted;
}

template <class T>
void run(const KernelCall& call, const Bags& bags) {
  const bool more = call.operands().size() > 6;
  const bool max = bags.a.mode == BagMode::kMax;
  T* out = call.tensor(0).data<T>();
  int64_t* bag_of = call.tensor(1).data<int64_t>();
  int64_t* counted = call.tensor(2).data<int64_t>();
  const T* weight = call.tensor(3).data<T>();
  int64_t* winner = max ? call.tensor(6).data<int64_t>() : nullptr;
  const T* factors = more && !max ? call.tensor(6).data<T>() : nullptr;
  const int64_t each =
      std::max<int64_t>(1, bags.positions * bags.width / (bags.count + 1));
  const int64_t grain = std::max<int64_t>(1, 16384 / each);
  parallel_for(0, bags.count, grain, [&](int64_t begin, int64_t end) {
    std::vector<OpMath<T>> sum(size_t(bags.width));
    for (int64_t b = begin; b < end; ++b) {
      std::fill(bag_of + bags.begin(b), bag_of + bags.end(b), b);
      T* to = out + b * bags.width;
      if (max) {
        counted[b] = take_largest(bags, b, weight, to, winner + b * bags.width);
        continue;
      }
      counted[b] = add_up(bags, b, weight, factors, sum.data());
      const bool mean = bags.a.mode == BagMode::kMean && counted[b] > 0;
      const auto n = OpMath<T>(mean ? counted[b] : 1);
      for (int64_t i = 0; i < bags.width; ++i) to[i] = T(sum[size_t(i)] / n);
    }
  });
  const int64_t used = bags.count ? bags.end(bags.count - 1) : 0;
  std::fill(bag_of + used, bag_of + bags.positions, bags.count);
}

void embedding_bag(const KernelCall& call) {
  kBagTypes.visit(call, [&]<class T>() {
    const Bags bags(call);
    bags.check();
    run<T>(call, bags);
  });
}

constexpr KernelTypes<TypeList<float, double>> kBagGradTypes{0};

/// Threads share out columns, so that a row is written by one of them.
void embedding_bag_grad(const KernelCall& call) {
  const Tensor &to = call.tensor(0), &g = call.tensor(3);
  const int64_t positions = call.tensor(1).numel(), width = to.size(1);
  const auto* rows = call.tensor(1).data<int64_t>();
  const auto* bag_of = call.tensor(2).data<int64_t>();
  kBagGradTypes.visit(call, [&]<class T>() {
    parallel_for(0, width, row_grain(positions),
                 [&](int64_t begin, int64_t end) {
                   T* out = to.data<T>() + begin;
                   const T* from = g.data<T>() + begin;
                   for (int64_t i = 0; i < positions; ++i)
                     if (bag_of[i] < g.size(0))
                       AddRun()(out + rows[i] * width, from + bag_of[i] * width,
                                end - begin, 1, 1);
                 });
  });
}

HOTARU_KERNEL(kCPU, "embedding_bag", embedding_bag, check_types<kBagTypes>);
HOTARU_KERNEL(kCPU, "embedding_bag_grad", embedding_bag_grad,
              check_types<kBagGradTypes>);

}  // namespace
}  // namespace hotaru::cpu
