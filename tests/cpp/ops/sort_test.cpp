// Sorting and selection against the standard library.
#include "hotaru/ops/sort/sort.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hotaru/core/error.h"
#include "hotaru/ops/sort/search.h"
#include "tests/cpp/op_tensors.h"

namespace hotaru {
namespace {

using namespace testing_tensors;

/// Positions in sorted order, equal elements in their order.
template <class T>
std::vector<int64_t> sorted_positions(const std::vector<T>& x, bool down) {
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const double va = double(x[size_t(a)]), vb = double(x[size_t(b)]);
    return down ? va > vb : va < vb;
  });
  return order;
}

template <class T>
class Sort : public testing::Test {};
using Types =
    testing::Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Sort, Types);

TYPED_TEST(Sort, KeepsTheOrderOfEqualElements) {
  using T = TypeParam;
  // Below and above the length from which a radix sort is used.
  for (const int64_t n : {1, 2, 17, 399, 400, 1000}) {
    std::vector<T> x;
    for (int64_t i = 0; i < n; ++i)
      x.push_back(T(std::sin(double(i) * 1.7) * 60 + 64));
    const Tensor t = tensor(x, Dims{n});
    for (const bool down : {false, true}) {
      const auto [values_, indices] = sort(t, 0, down);
      const std::vector<int64_t> want = sorted_positions(x, down);
      EXPECT_EQ(values<int64_t>(indices), want) << n << down;
      EXPECT_EQ(values<T>(values_)[0], x[size_t(want[0])]);
    }
  }
}

TYPED_TEST(Sort, SelectsWhatSortingGives) {
  const int64_t n = 130;
  const Tensor x = to(waves(Dims{3, n}), kDTypeOf<TypeParam>);
  const auto [all, positions] = sort(x, 1);
  for (const int64_t k : {1, 2, 64, 130}) {
    const auto [value, at] = kthvalue(x, k, 1);
    EXPECT_EQ(values<TypeParam>(value),
              values<TypeParam>(select(all, 1, k - 1)));
    const auto [largest, where] = topk(x, k, 1);
    const Tensor want = std::get<0>(sort(x, 1, true));
    EXPECT_EQ(values<TypeParam>(largest),
              values<TypeParam>(narrow(want, 1, 0, k)));
  }
}

TEST(Search, FindsTheFirstPlace) {
  const Tensor rows = tensor<float>({1, 3, 3, 5}, Dims{4});
  const Tensor x = vec({0, 3, 4, 9});
  EXPECT_EQ(values<int64_t>(searchsorted(rows, x)),
            (std::vector<int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(values<int64_t>(searchsorted(rows, x, false, true)),
            (std::vector<int64_t>{0, 3, 3, 4}));
  const Tensor order = index({0, 9, 1, 2});
  EXPECT_THROW(searchsorted(rows, x, false, false, order), Error);
}

TEST(Unique, InverseRebuildsTheInput) {
  const Tensor x = tensor<int64_t>({3, 1, 3, 2, 1, 1}, Dims{2, 3});
  const auto [found, inverse, counts] = unique(x, true, true);
  EXPECT_EQ(values<int64_t>(found), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(values<int64_t>(counts), (std::vector<int64_t>{3, 1, 2}));
  EXPECT_EQ(values<int64_t>(inverse), (std::vector<int64_t>{2, 0, 2, 1, 0, 0}));
}

}  // namespace
}  // namespace hotaru
