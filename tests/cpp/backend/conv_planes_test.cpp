// Convolutions of bfloat16 and their gradients by AMX on plain pictures.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hotaru/backend/cpu/conv/amx/plane_conv.h"
#include "hotaru/backend/cpu/conv/amx/plane_weights.h"
#include "hotaru/backend/cpu/matmul/amx/gemm_tiles.h"
#include "hotaru/core/printing/concat.h"
#include "tests/cpp/backend/conv_cases.h"

namespace hotaru {
namespace {

using cpu::PlaneConv;
using cpu::PlaneWeights;
using Numbers = std::vector<BFloat16>;

Numbers rounded(const std::vector<double>& from) {
  Numbers to;
  for (const double v : from) to.emplace_back(float(v));
  return to;
}

void expect_same(const Numbers& got, const std::vector<double>& want,
                 const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(float(got[i]), float(BFloat16(float(want[i]))))
        << what << " " << i;
}

struct Plane {
  int64_t batch, channels, outputs, h, w, kernel_h, kernel_w;
  int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
};

ConvGeometry geometry(const Plane& p) {
  ConvGeometry g{p.batch, p.channels, p.outputs, p.groups};
  g.in = {1, p.h, p.w};
  g.kernel = {1, p.kernel_h, p.kernel_w};
  g.stride = {1, p.stride, p.stride};
  g.padding = {0, p.padding, p.padding};
  g.dilation = {1, p.dilation, p.dilation};
  return g;
}

/// Sums are exact, results rounded once.
void check(const Plane& p) {
  const ConvGeometry g = geometry(p);
  SCOPED_TRACE(concat(p.batch, " of ", p.channels, "->", p.outputs, " groups ",
                      p.groups, " in ", p.h, "x", p.w, " kernel ", p.kernel_h,
                      "x", p.kernel_w, " stride ", p.stride, " padding ",
                      p.padding, " dilation ", p.dilation));
  ASSERT_GT(g.out_positions(), 0);
  const ConvCase c(g);
  const Numbers x = rounded(c.x), w = rounded(c.w), dy = rounded(c.dy);
  const BFloat16 none(NAN);
  Numbers y(c.y.size(), none), dx(c.dx.size(), none), dw(c.dw.size(), none);
  PlaneConv::forward(g).run(x.data(), w.data(), rounded(c.bias).data(),
                            y.data());
  expect_same(y, c.y, "forward");
  PlaneConv::data(g).run(dy.data(), w.data(), nullptr, dx.data());
  expect_same(dx, c.dx, "gradient of x");
  PlaneConv::data(g).run(dy.data(), w.data(), rounded(c.shift).data(),
                         dx.data());
  expect_same(dx, c.shifted_dx(g), "transposed, with a bias");
  PlaneWeights(g).run(dy.data(), x.data(), dw.data());
  expect_same(dw, c.dw, "gradient of weight");
}

class ConvPlanes : public testing::Test {
  void SetUp() override {
    if (!amx::has_products())
      GTEST_SKIP() << "no AMX; HOTARU_SIMD=amx-emulated has";
  }
};

TEST_F(ConvPlanes, ChannelsAndOutputsThatFillNoTile) {
  for (const int64_t channels : {1, 3, 16, 17, 33, 40})
    for (const int64_t outputs : {3, 16, 20, 33, 70})
      check({2, channels, outputs, 6, 7, 3, 3, 1, 1});
}

TEST_F(ConvPlanes, PaddingIsSharedByRowsAndImages) {
  for (int64_t padding = 0; padding < 5; ++padding) {
    check({5, 8, 8, 4, 4, 3, 3, 1, padding});
    check({3, 8, 8, 5, 1, 3, 1, 1, padding});
    check({3, 8, 8, 1, 40, 1, 5, 1, padding});
  }
}

TEST_F(ConvPlanes, StridesTakeRemaindersApart) {
  for (const int64_t stride : {2, 3})
    for (int64_t padding = 0; padding < 4; ++padding)
      for (const int64_t kernel : {1, 2, 3, 4}) {
        check({2, 16, 8, 9, 10, kernel, kernel, stride, padding});
        check({1, 3, 8, 11, 8, kernel, 3, stride, padding, 2});
      }
}

TEST_F(ConvPlanes, DilationAndGroups) {
  check({2, 16, 32, 9, 9, 3, 3, 1, 2, 2});
  check({2, 16, 32, 9, 9, 3, 3, 2, 4, 3});
  check({2, 32, 64, 6, 6, 3, 3, 1, 1, 1, 2});
  check({2, 32, 16, 6, 6, 1, 1, 2, 0, 1, 4});
}

TEST_F(ConvPlanes, PicturesThatAreReadByPieces) {
  check({1, 32, 16, 90, 150, 3, 3, 1, 1});
  check({2, 64, 8, 70, 90, 3, 3, 2, 1});
  check({40, 16, 16, 17, 17, 3, 3, 1, 1});
}

TEST_F(ConvPlanes, InfinityStaysInItsImage) {
  const ConvGeometry g = geometry({3, 16, 16, 6, 6, 3, 3, 1, 1});
  const int64_t image = 16 * 36;
  Numbers x(size_t(3 * image), BFloat16(1.0f)), y(x.size());
  const Numbers w(16 * 16 * 9, BFloat16(1.0f));
  for (int64_t i = image; i < 2 * image; ++i)
    x[size_t(i)] = BFloat16(std::numeric_limits<float>::infinity());
  PlaneConv::forward(g).run(x.data(), w.data(), nullptr, y.data());
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(std::isinf(float(y[i])), int64_t(i) / image == 1) << i;
}

}  // namespace
}  // namespace hotaru
