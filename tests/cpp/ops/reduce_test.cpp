// Reductions over every layout against plain loops, and softmax's rows. The
// values of PyTorch are compared in tests/python/ops/cases/test_ops_golden.py.
#include "hotaru/ops/reduce/reduce.h"

#include <gtest/gtest.h>

#include <limits>

#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/activation/softmax.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/op_tensors.h"

namespace hotaru {
namespace {

using namespace testing_tensors;

/// f over the elements of each output, found through select() alone.
template <class F>
std::vector<double> by_hand(const Tensor& x, int64_t dim, const F& f) {
  const Tensor front = contiguous(movedim(x, Dims{dim}, Dims{-1}));
  const int64_t n = front.size(-1);
  const std::vector<double> all = values<double>(front);
  std::vector<double> out;
  for (size_t start = 0; start < all.size(); start += size_t(n))
    out.push_back(f(all.data() + start, n));
  return out;
}

void expect_near(const Tensor& got, const std::vector<double>& want) {
  const std::vector<double> found = values<double>(to(got, DType::kFloat64));
  ASSERT_EQ(found.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(found[i], want[i], 1e-6 * (1 + std::fabs(want[i]))) << i;
}

/// Sizes around vector widths and tiles, in all orders of the dimensions.
class Layouts : public testing::TestWithParam<int64_t> {
 protected:
  std::vector<Tensor> tensors() const {
    const Tensor base = waves(Dims{3, GetParam(), 5}, DType::kFloat32);
    return {base, permute(base, Dims{2, 0, 1}), transpose(base, 0, 1),
            slice(base, 1, {}, {}, 2), unsqueeze(select(base, 0, 1), 0)};
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, Layouts,
                         testing::Values(1, 2, 7, 16, 63, 64, 65, 129, 1025));

TEST_P(Layouts, SumMaxAndVariance) {
  for (const Tensor& x : tensors()) {
    const Tensor exact = to(x, DType::kFloat64);
    for (int64_t dim = 0; dim < 3; ++dim) {
      SCOPED_TRACE(testing::Message() << shape_text(x.sizes()) << " " << dim);
      expect_near(sum(x, Dims{dim}),
                  by_hand(exact, dim, [](const double* v, int64_t n) {
                    double total = 0;
                    for (int64_t i = 0; i < n; ++i) total += v[i];
                    return total;
                  }));
      expect_near(amax(x, Dims{dim}),
                  by_hand(exact, dim, [](const double* v, int64_t n) {
                    return *std::max_element(v, v + n);
                  }));
      expect_near(var(x, Dims{dim}, 0),
                  by_hand(exact, dim, [](const double* v, int64_t n) {
                    double mean = 0, squares = 0;
                    for (int64_t i = 0; i < n; ++i) mean += v[i] / double(n);
                    for (int64_t i = 0; i < n; ++i)
                      squares += (v[i] - mean) * (v[i] - mean);
                    return squares / double(n);
                  }));
    }
  }
}

TEST_P(Layouts, PreparedCallsGiveTheSameBits) {
  const auto expect_same = [](const char* name, const Tensor& out,
                              const Tensor& x, const auto& attributes) {
    const Operand operands[] = {write(out), read(x)};
    const KernelCall call(kernel(name), operands, attributes);
    call.run(DeviceType::kCPU);
    const std::vector<float> want = values<float>(out);
    const auto prepared = call.kernel().prepare(DeviceType::kCPU, call);
    ASSERT_NE(prepared, nullptr) << name;
    for (int i = 0; i < 2; ++i) {
      fill_(out, -1);
      prepared->run();
      const std::vector<float> got = values<float>(out);
      for (size_t k = 0; k < want.size(); ++k)
        EXPECT_EQ(got[k], want[k]) << name << " " << shape_text(x.sizes());
    }
  };
  for (const Tensor& x : tensors())
    for (int64_t dim = 0; dim < 3; ++dim) {
      Dims sizes = x.sizes();
      sizes[size_t(dim)] = 1;
      const Tensor out = empty(sizes, DType::kFloat32);
      expect_same("sum", out, x, SumAttributes{true, false});
      expect_same("sum", out, x, SumAttributes{false, true});
      expect_same("norm", out, x, NormAttributes{});
      expect_same("var", out, x, VarAttributes{0});
      expect_same("prod", out, x, 0);
      expect_same("amax", out, x, 0);
    }
}

TEST_P(Layouts, SoftmaxAddsUpToOne) {
  for (const Tensor& x : tensors()) {
    for (int64_t dim = 0; dim < 3; ++dim) {
      const Tensor total = sum(softmax(x, dim), Dims{dim});
      for (const float t : values<float>(total)) EXPECT_NEAR(t, 1, 1e-5);
      const Tensor logs = log_softmax(x, dim);
      const Tensor back = logsumexp(logs, Dims{dim});
      for (const float t : values<float>(back)) EXPECT_NEAR(t, 0, 1e-5);
    }
  }
}

TEST(Reduce, DoesNotDependOnTheNumberOfThreads) {
  const Tensor x = waves(Dims{300, 700}, DType::kFloat32);
  const int threads = get_num_threads();
  std::vector<std::vector<float>> found;
  for (const int count : {1, 3}) {
    set_num_threads(count);
    found.push_back(values<float>(sum(x, Dims{0})));
    found.push_back(values<float>(sum(x, Dims{1})));
    found.push_back(values<float>(softmax(x, 0)));
  }
  set_num_threads(threads);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(found[i], found[i + 3]);
}

TEST(Reduce, SumOfManyEqualNumbersIsExactEnough) {
  // A running float sum of these would be off by 0.1 percent. The bound: 64
  // steps in each of at least 16 partial sums of a block, 4 to join them and 10
  // levels above make 78 roundings, and 78 * 2^-24 * 104858 is 0.49.
  const Tensor x = full(Dims{1 << 20}, 0.1, DType::kFloat32);
  EXPECT_NEAR(item(sum(x)).to_double(), 104857.6, 0.5);
}

TEST(Reduce, IntegersWrapAround) {
  const int64_t big = std::numeric_limits<int64_t>::max();
  const Tensor x = index({big, 1});
  EXPECT_EQ(item(sum(x)).to_int(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(item(prod(index({big, 2}))).to_int(), -2);
  EXPECT_EQ(values<int64_t>(cumsum(x, 0))[1],
            std::numeric_limits<int64_t>::min());
}

TEST(Reduce, NanWinsWhereverItStands) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t at : {0, 1, 15, 16, 40, 66}) {
    const Tensor x = waves(Dims{67}, DType::kFloat32);
    x.data<float>()[at] = nan;
    EXPECT_TRUE(std::isnan(item(max(x)).to_double())) << at;
    EXPECT_TRUE(std::isnan(item(min(x)).to_double())) << at;
    EXPECT_EQ(item(argmax(x)).to_int(), at);
    EXPECT_EQ(values<int64_t>(std::get<1>(min(x, 0)))[0], at);
  }
}

TEST(Reduce, EmptyDimensions) {
  const Tensor x = empty(Dims{0, 3});
  EXPECT_EQ(values<float>(sum(x, Dims{0})), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(sum(x, Dims{1}).numel(), 0);
  EXPECT_TRUE(std::isnan(values<float>(mean(x, Dims{0}))[0]));
  EXPECT_THROW(amax(x, Dims{0}), IndexError);
  EXPECT_THROW(max(x), Error);
  EXPECT_EQ(softmax(x, 0).numel(), 0);
}

}  // namespace
}  // namespace hotaru
