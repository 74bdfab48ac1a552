// Indices at and beyond the edges, masks, joins: what must never read or
// write out of bounds.
#include "hotaru/ops/index/index.h"

#include <gtest/gtest.h>

#include <limits>

#include "hotaru/core/error.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/triangle.h"
#include "tests/cpp/op_tensors.h"

namespace hotaru {
namespace {

using namespace testing_tensors;
using Floats = std::vector<float>;

Tensor matrix() {
  return tensor<float>({1, 2, 3, 4, 5, 6}, Dims{2, 3});
}

TEST(Index, NeighboursStayAndOthersGoToTheFront) {
  const Tensor x = waves(Dims{2, 3, 4, 5});
  const Tensor a = tensor<int64_t>({0, 1}, Dims{2, 1});
  const Tensor b = index({1, 2, 0});
  EXPECT_TRUE(same(index(x, {{}, b, index({0, 3, 1})}).sizes(), Dims{2, 3, 5}));
  EXPECT_TRUE(same(index(x, {a, {}, b}).sizes(), Dims{2, 3, 3, 5}));
  const Tensor found = index(x, {a, {}, b});
  const Tensor want = select(select(select(x, 0, 1), 1, 2), 0, 0);
  EXPECT_EQ(values<double>(select(select(select(found, 0, 1), 0, 1), 0, 0)),
            values<double>(want));
}

TEST(Index, OutOfRangeIsAnErrorBeforeAnythingIsWritten) {
  const Tensor x = matrix();
  const Floats before = values<float>(x);
  const Tensor bad = index({0, 2}), low = index({0, -3});
  EXPECT_THROW(index(x, {bad}), IndexError);
  EXPECT_THROW(index(x, {low}), IndexError);
  EXPECT_THROW(index_put_(x, {bad}, vec({0, 0, 0})), IndexError);
  EXPECT_THROW(index_select(x, 0, bad), IndexError);
  EXPECT_THROW(index_copy_(x, 0, bad, matrix()), IndexError);
  EXPECT_THROW(index_fill_(x, 0, low, Scalar(1)), IndexError);
  EXPECT_THROW(index_add_(x, 0, low, matrix()), Error);
  EXPECT_THROW(gather(x, 0, unsqueeze(bad, 0)), Error);
  EXPECT_THROW(take(x, index({6})), IndexError);
  EXPECT_THROW(embedding(x, bad), IndexError);
  EXPECT_EQ(values<float>(x), before);
}

TEST(Index, LastOfEqualIndicesWinsAndSumsAddUp) {
  const Tensor x = zeros(Dims{2, 2});
  const Tensor rows = tensor<float>({1, 2, 3, 4, 5, 6}, Dims{3, 2});
  const Tensor same_row = index({1, 1, 1});
  EXPECT_EQ(values<float>(index_put(x, {same_row}, rows)),
            (Floats{0, 0, 5, 6}));
  EXPECT_EQ(values<float>(index_put(x, {same_row}, rows, true)),
            (Floats{0, 0, 9, 12}));
  EXPECT_EQ(values<float>(index_add(x, 0, same_row, rows)),
            (Floats{0, 0, 9, 12}));
}

TEST(Index, SlicesOfEveryLayout) {
  const Tensor base = waves(Dims{4, 6, 5});
  const Tensor at = index({3, 0, 2});
  for (const Tensor& x : {base, permute(base, Dims{2, 0, 1}),
                          slice(base, 1, {}, {}, 2), transpose(base, 1, 2)}) {
    for (int64_t dim = 0; dim < 3; ++dim) {
      if (x.size(dim) < 4) continue;
      const Tensor found = index_select(x, dim, at);
      for (int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(values<double>(select(found, dim, i)),
                  values<double>(select(x, dim, at.data<int64_t>()[i])));
      const Tensor added = index_add(zeros_like(x), dim, at, found);
      EXPECT_EQ(values<double>(index_select(added, dim, at)),
                values<double>(found));
    }
  }
}

TEST(Mask, TakesWhatIsTrue) {
  const Tensor x = waves(Dims{7, 9}, DType::kFloat32);
  for (const Tensor& t : {x, transpose(x, 0, 1), slice(x, 1, {}, {}, 2)}) {
    const Tensor mask = gt(t, Scalar(0));
    Floats want;
    for (const float v : values<float>(t))
      if (v > 0) want.push_back(v);
    EXPECT_EQ(values<float>(masked_select(t, mask)), want);
    EXPECT_EQ(values<float>(index(t, {mask})), want);
    const Tensor at = nonzero(mask);
    ASSERT_EQ(at.size(0), int64_t(want.size()));
    EXPECT_EQ(values<float>(index(t, {select(at, 1, 0), select(at, 1, 1)})),
              want);
    const Tensor few = vec({1, 2});
    EXPECT_THROW(masked_scatter(t, mask, few), Error);
  }
  EXPECT_EQ(nonzero(zeros(Dims{3, 0})).size(0), 0);
}

TEST(Gather, ScatterAddIsItsTranspose) {
  const Tensor x = waves(Dims{5, 4}), g = waves(Dims{3, 4});
  const Tensor at =
      tensor<int64_t>({4, 0, 1, 1, 0, 0, 4, 2, 3, 3, 3, 3}, Dims{3, 4});
  const double left = item(sum(mul(gather(x, 0, at), g))).to_double();
  const Tensor back = scatter_add(zeros_like(x), 0, at, g);
  EXPECT_NEAR(left, item(sum(mul(x, back))).to_double(), 1e-12);
}

TEST(Join, CatOfDtypesAndLayouts) {
  const Tensor x = matrix();
  const Tensor y =
      cat({x, transpose(tensor<float>({7, 8}, Dims{1, 2}), 0, 1)}, 1);
  EXPECT_EQ(values<float>(y), (Floats{1, 2, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(cat({x, to(x, DType::kInt64)}).dtype(), DType::kFloat32);
  EXPECT_EQ(cat(Tensors(20, vec({1}))).numel(), 20);
  EXPECT_THROW(cat({x, vec({1})}), Error);
  EXPECT_EQ(values<float>(flip(x, Dims{0, 1})), (Floats{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(values<float>(roll(x, Dims{1}, Dims{1})),
            (Floats{3, 1, 2, 6, 4, 5}));
  EXPECT_EQ(values<float>(repeat(vec({1, 2}), Dims{2, 2})),
            (Floats{1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST(Triangle, DiagonalsFarOutside) {
  const int64_t far = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(values<float>(tril(matrix(), far)), values<float>(matrix()));
  EXPECT_EQ(values<float>(triu(matrix(), far)), Floats(6, 0));
  EXPECT_EQ(values<float>(tril(matrix())), (Floats{1, 0, 0, 4, 5, 0}));
}

}  // namespace
}  // namespace hotaru
