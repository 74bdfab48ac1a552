// Tensors of more elements than a launch counts: with a limit that is low,
// since those of 2^31 elements take too long here.
#include <gtest/gtest.h>

#include <functional>

#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/backend/common/reduce/histogram.h"
#include "hotaru/backend/common/shape/pad.h"
#include "hotaru/backend/common/vision/deform.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/fft/fft.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/index/index.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/triangle.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/shape/view_grad.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Device kCuda{DeviceType::kCUDA, 0};

class CutSpaces : public testing::TestWithParam<int64_t> {
 protected:
  ~CutSpaces() override { cuda::set_most_elements(before_); }

  /// Results of f on the CPU, and on CUDA where launches count this much.
  void expect_same(const std::function<Tensors(const Tensors&)>& f,
                   const Tensors& in, double tolerance = 0) {
    Tensors on_cuda;
    for (const Tensor& t : in) on_cuda.push_back(to(t, kCuda));
    const Tensors expected = f(in);
    cuda::set_most_elements(GetParam());
    Tensors got = f(on_cuda);
    cuda::set_most_elements(before_);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(Dims(got[i].sizes()), Dims(expected[i].sizes())) << i;
      const Tensor difference =
          abs(sub(to(to(got[i], Device{}), DType::kFloat64),
                  to(expected[i], DType::kFloat64)));
      EXPECT_LE(item(max(difference)).to_double(), tolerance) << "result " << i;
    }
  }

 private:
  const int64_t before_ = cuda::most_elements();
};

Tensor counted(Dims shape, DType dtype = DType::kFloat32) {
  return reshape(arange(0, numel_of(shape), 1, {dtype}), shape);
}

TEST_P(CutSpaces, Elementwise) {
  expect_same(
      [](const Tensors& t) {
        const Tensor a = t[0], b = t[1], row = t[2];
        Tensor filled = clone(a);
        fill_(transpose(filled, 0, 1), 7);
        fill_(select(filled, 1, 3), 2);
        return Tensors{add(a, b),
                       mul(transpose(a, 0, 1), transpose(b, 0, 1)),
                       add(a, row),
                       add(a, item(max(b))),
                       where(lt(a, b), a, row),
                       where(transpose(lt(a, b), 0, 1), transpose(a, 0, 1),
                             transpose(b, 0, 1)),
                       filled,
                       to(a, DType::kInt64),
                       to(transpose(a, 0, 1), DType::kFloat16),
                       clone(contiguous(transpose(a, 0, 1))),
                       neg(slice(a, 0, 3, 50, 5))};
      },
      {counted({61, 67}), flip(counted({61, 67}), Dims{0}), counted({67})});
}

TEST_P(CutSpaces, Reductions) {
  const Tensor x = randn(Dims{23, 29, 31});
  const auto f = [](const Tensors& t) {
    Tensors out;
    for (const Tensor& a : {t[0], permute(t[0], Dims{2, 0, 1}),
                            expand(select(t[0], 0, 0), Dims{5, 29, 31})}) {
      out.push_back(sum(a));
      out.push_back(mean(a));
      out.push_back(var(a));
      out.push_back(max(a));
      out.push_back(argmax(a));
      for (const int64_t dim : {0, 1, 2}) {
        out.push_back(sum(a, Dims{dim}));
        out.push_back(mean(a, Dims{dim}));
        out.push_back(var(a, Dims{dim}));
        out.push_back(argmax(a, dim));
        const auto [values, at] = min(a, dim);
        out.push_back(values);
        out.push_back(at);
      }
      out.push_back(sum(a, Dims{0, 2}));
      out.push_back(var(a, Dims{0, 1}));
    }
    return out;
  };
  expect_same(f, {x}, 2e-4);
  // Equal ones, of which the first counts, and one behind them.
  Tensor equal = zeros(Dims{20000});
  expect_same([](const Tensors& t) { return Tensors{argmax(t[0])}; }, {equal});
  fill_(slice(equal, 0, 17001, 17003), 1);
  expect_same([](const Tensors& t) { return Tensors{argmax(t[0])}; }, {equal});
}

TEST_P(CutSpaces, Lines) {
  expect_same(
      [](const Tensors& t) {
        Tensors out;
        for (const int64_t dim : {0, 1, 2}) {
          out.push_back(cumsum(t[0], dim));
          const auto [values, at] = cummax(transpose(t[0], 0, 2), dim);
          out.push_back(values);
          out.push_back(at);
          out.push_back(softmax(t[0], dim));
        }
        return out;
      },
      {randn(Dims{17, 40, 19})}, 1e-4);
}

TEST_P(CutSpaces, FourierTransforms) {
  const Dims both{0, 1};
  expect_same(
      [&](const Tensors& t) {
        Tensors out;
        for (const Tensor& x : {t[0], transpose(t[1], 0, 1)}) {
          const Tensor y = fft_r2c(x, both, FftScale::kRoot, true);
          const Tensor last = slice(y, 0, 1, y.size(0), 2);
          out.push_back(abs(y));
          out.push_back(fft_c2r(y, both, FftScale::kRoot, x.size(1)));
          out.push_back(abs(fft_c2c(last, Dims{1}, FftScale::kNone, true)));
        }
        return out;
      },
      {counted({67, 30}, DType::kFloat64) / 1000,
       counted({12, 70}, DType::kFloat64) / 1000},
      1e-11);
}

TEST_P(CutSpaces, Indices) {
  const Tensor x = counted({47, 53}),
               at = remainder(counted({47, 53}, DType::kInt64),
                              full(Dims{}, 41));
  const Tensor rows = flip(counted({30}, DType::kInt64), Dims{0});
  expect_same(
      [](const Tensors& t) {
        const Tensor x = t[0], at = t[1], rows = t[2], mask = ge(at, 17);
        return Tensors{
            gather(x, 0, at),
            scatter_add(x, 0, at, x),
            index_select(x, 1, rows),
            index_copy(x, 0, rows, slice(mul(x, 2), 0, 0, 30)),
            index(x, {rows}),
            index(x, {at, add(at, 3)}),
            index_put(x, {rows, rows}, select(slice(x, 0, 0, 30), 1, 5)),
            index_put(x, {at, at}, x, true),
            nonzero(mask),
            nonzero(transpose(mask, 0, 1)),
            masked_select(x, mask),
            masked_select(transpose(x, 0, 1), transpose(mask, 0, 1)),
            masked_scatter(x, mask, mul(x, 3)),
        };
      },
      {x, at, rows});
}

Tensor like(const Tensor& t, Dims shape, DType dtype) {
  return zeros(shape, {dtype, t.device()});
}

struct Required {
  Required() { set_determinism({.required = true}); }
  ~Required() { set_determinism({}); }
};

/// 0, 1, ... below n, and again.
Tensor counted_to(int64_t n, Dims shape) {
  return remainder(counted(std::move(shape), DType::kInt64), full(Dims{}, n));
}
/// Another order of addition would give other bits.
Tensor mixed(const Dims& shape) {
  const Tensor large = lt(counted_to(5, shape), full(Dims{}, 2));
  return mul(randn(shape), where(large, full(Dims{}, 1e8), full(Dims{}, 1.0)));
}

/// Sums in the order of positions, though they are sorted in parts.
TEST_P(CutSpaces, OrderedWrites) {
  const Required required;
  const Dims shape{47, 53};
  expect_same(
      [](const Tensors& t) {
        const Tensor x = t[0], at = t[1], few = t[2];
        const Tensor row = select(few, 1, 0), y = transpose(x, 0, 1);
        return Tensors{
            scatter_add(x, 0, few, x),
            scatter_add(x, 1, few, x),
            scatter_add(y, 0, transpose(at, 0, 1), y),
            scatter(x, 0, few, x),
            index_add(x, 0, row, x),
            index_add(y, 1, row, y),
            index_copy(x, 0, row, x),
            index_put(x, {row}, x, true),
            index_put(x, {few, at}, x, true),
            index_put(x, {few, at}, x),
            index_put(x, {row, row}, select(x, 1, 0), true),
        };
      },
      {mixed(shape), counted_to(41, shape), counted_to(3, shape)});
}

/// The same of kernels that know targets without an index along a dimension.
TEST_P(CutSpaces, OrderedSums) {
  const Required required;
  expect_same(
      [](const Tensors& t) {
        const Tensor x = t[0], weights = t[1], at = t[2];
        const Tensor counts = like(x, Dims{5}, DType::kFloat32);
        enqueue(kernel("histogram"),
                {write(counts), read(x), read(Tensor()), read(weights)},
                HistogramAttributes{.low = -1, .high = 1});
        const Tensor edge = like(x, Dims{41, 49}, DType::kFloat32);
        enqueue(kernel("pad_transposed"), {write(edge), read(weights)},
                PadAttributes{PadMode::kReplicate, Dims{3, 2}});
        const Tensor planes = like(x, Dims{47, 7}, DType::kFloat32);
        enqueue(kernel("plane_scatter"),
                {write(planes), read(weights), read(at)}, PlaneAttributes{1});
        return Tensors{counts, edge, planes,
                       scatter_strided(weights, 150, Dims{2, 1}, 3)};
      },
      {randn(Dims{47, 53}), mixed(Dims{47, 53}), counted_to(7, Dims{47, 53})});
}

TEST_P(CutSpaces, Shapes) {
  expect_same(
      [](const Tensors& t) {
        const Tensor x = t[0];
        Tensors out{cat({x, mul(x, 2), slice(x, 1, 0, 5)}, 1),
                    cat({x, x, x}, 0),
                    flip(x, Dims{0, 1}),
                    tril(x, 3),
                    tril(transpose(x, 0, 1), -7),
                    triu(stack({x, x, x}), 2),
                    pad(x, Dims{3, 4, 1, 2}),
                    arange(3, 4003, 1, {DType::kFloat32, x.device()}),
                    linspace(-1, 1, 4001, {DType::kFloat64, x.device()})};
        for (const char* mode : {"reflect", "replicate", "circular"})
          out.push_back(pad(unsqueeze(x, 0), Dims{3, 4}, mode));
        return out;
      },
      {counted({43, 59})}, 1e-12);
}

/// In stretches that know which boxes fell before them.
TEST_P(CutSpaces, OverlappingBoxes) {
  const Tensor corner = mul(rand(Dims{200, 2}), Scalar(30));
  expect_same(
      [](const Tensors& t) {
        const Tensor kept = like(t[0], Dims{200}, DType::kInt64),
                     count = like(t[0], Dims{1}, DType::kInt64);
        enqueue(kernel("nms"), {write(kept), write(count), read(t[0])},
                NmsAttributes{0.2});
        return Tensors{narrow(kept, 0, 0, item(count).to_int()), count};
      },
      {cat({corner, add(corner, Scalar(8))}, 1)});
}

/// By regions, of which a grid has 24 elements.
TEST_P(CutSpaces, RegionsOfPictures) {
  const Tensor image = to(randint(0, 2, Dims{50, 1}), DType::kFloat32);
  const Tensor corner = mul(rand(Dims{50, 2}), Scalar(9));
  expect_same(
      [](const Tensors& t) {
        const auto grid = [&] {
          return like(t[0], Dims{50, 2, 3, 4}, DType::kFloat32);
        };
        const Tensor averages = grid(), maxima = grid(),
                     back = zeros_like(t[0]);
        const Tensor places = like(t[0], Dims{50, 2, 3, 4}, DType::kInt32);
        const RegionAttributes a{.scale = 0.8};
        enqueue(kernel("roi_align"), {write(averages), read(t[0]), read(t[1])},
                a);
        enqueue(kernel("roi_pool"),
                {write(maxima), write(places), read(t[0]), read(t[1])}, a);
        enqueue(kernel("roi_pool_backward"),
                {write(back), read(averages), read(places), read(t[1])});
        return Tensors{averages, maxima, places, back};
      },
      {randn(Dims{2, 2, 11, 12}),
       cat({image, corner, add(corner, Scalar(5))}, 1)},
      1e-5);
}

/// By channels and taps, of which one has 30 samples.
TEST_P(CutSpaces, SamplesWhereDataSay) {
  expect_same(
      [](const Tensors& t) {
        const DeformAttributes a{
            .kernel = {3, 2}, .padding = {1, 0}, .groups = 2};
        const Tensor columns = like(t[0], Dims{4, 3, 2, 5, 6}, DType::kFloat32);
        enqueue(kernel("deform_columns"),
                {write(columns), read(t[0]), read(t[1]), read(t[2])}, a);
        const Tensors back{zeros_like(t[0]), zeros_like(t[1]),
                           zeros_like(t[2])};
        enqueue(kernel("deform_columns_backward"),
                {write(back[0]), write(back[1]), write(back[2]), read(columns),
                 read(t[0]), read(t[1]), read(t[2])},
                a);
        return Tensors{columns, back[0], back[1], back[2]};
      },
      {randn(Dims{4, 5, 7}), randn(Dims{2, 3, 2, 2, 5, 6}),
       randn(Dims{2, 3, 2, 5, 6})},
      1e-4);
}

/// The generator moves on for the whole, and then draws for each part.
TEST_P(CutSpaces, DrawsAreThoseOfTheParts) {
  const int64_t most = (GetParam() - 1) / 4 + 1;
  Generator& generator = default_generator(kCuda);
  const TensorOptions options{DType::kFloat32, kCuda};
  std::function<Tensors(int64_t)> parts = [&](int64_t n) {
    if (n <= most) return Tensors{rand(Dims{n}, options)};
    Tensors out = parts(n / 2);
    for (const Tensor& t : parts(n - n / 2)) out.push_back(t);
    return out;
  };
  for (const int64_t n : {most, most + 1, 4 * most + 3}) {
    generator.manual_seed(5);
    if (n > most) (void)rand(Dims{n}, options);
    const Tensor expected = to(cat(parts(n)), Device{});
    generator.manual_seed(5);
    cuda::set_most_elements(GetParam());
    const Tensor got = to(rand(Dims{n}, options), Device{});
    cuda::set_most_elements(cuda::kMostElements - 1);
    EXPECT_EQ(item(max(abs(sub(got, expected)))).to_double(), 0) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Most, CutSpaces, testing::Values(61, 1000));

}  // namespace
}  // namespace hotaru
