// Long lines sorted by digits, on lengths that a test has time for.
#include <gtest/gtest.h>

#include "hotaru/backend/cuda/sort/sort.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/index.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/sort/sort.h"

namespace hotaru {
namespace {

const Device kCuda{DeviceType::kCUDA, 0};

class Radix : public testing::TestWithParam<DType> {
 protected:
  Radix() { cuda::set_radix(0, 4); }
  ~Radix() override { cuda::set_radix(1 << 18, 4); }

  /// Many equal ones; of floats also NaN, infinities and both zeros.
  static Tensor numbers(IntSpan sizes) {
    Tensor x = mul(sub(rand(sizes, {DType::kFloat64, Device{}}), Scalar(0.5)),
                   Scalar(300));
    if (is_floating_point(GetParam())) {
      x = mul(x, x);
      x = where(lt(x, Scalar(9.0)), div(x, Scalar(0.0)), x);
      x = where(gt(x, Scalar(2e4)), mul(x, Scalar(-0.0)), x);
      x = where(gt(x, Scalar(1e4)), sub(x, div(x, Scalar(0.0))), x);
    } else if (!is_signed(GetParam())) {
      x = abs(x);
    }
    return to(round(x), GetParam());
  }
};

TEST_P(Radix, SortsAsTheCpuDoes) {
  for (const bool descending : {false, true}) {
    const Tensor x = numbers(descending ? Dims{1025} : Dims{2, 2100});
    const auto [values, order] = sort(x, -1, descending);
    const auto [got, got_order] = sort(to(x, kCuda), -1, descending);
    EXPECT_TRUE(item(all(eq(to(got_order, Device{}), order))).to_int() != 0);
    const Tensor there = to(got, Device{});
    const Tensor same = logical_or(
        eq(there, values), logical_and(ne(there, there), ne(values, values)));
    EXPECT_TRUE(item(all(same)).to_int() != 0);
  }
}

TEST_P(Radix, OneLineOfManyBlocks) {
  // A tile each, and all of them one after another in one.
  const Tensor x = numbers(Dims{9001});
  const auto [values, order] = sort(x, 0, false);
  for (const int blocks : {4, 0}) {
    cuda::set_radix(0, blocks);
    const auto [got, got_order] = sort(to(x, kCuda), 0, false);
    EXPECT_TRUE(item(all(eq(to(got_order, Device{}), order))).to_int() != 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, Radix,
    // One of each size; the others differ in their keys alone.
    testing::Values(DType::kFloat32, DType::kFloat64, DType::kInt16,
                    DType::kUInt8),
    [](const auto& of) { return std::string(scalar_type_name(of.param)); });

}  // namespace
}  // namespace hotaru
