// Tensors of C++ programs: options, memory, indexing, operators, errors.
#include <gtest/gtest.h>

#include "torch/torch.h"

namespace {

using torch::Tensor;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

Tensor grid() {
  return torch::arange(12).reshape({3, 4});
}
bool same(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         a.equal(b);
}

TEST(Tensor, DtypesOfNumbersInBraces) {
  EXPECT_EQ(torch::tensor({1, 2}).scalar_type(), torch::kLong);
  EXPECT_EQ(torch::tensor({1.5, 2.0}).scalar_type(), torch::kFloat);
  EXPECT_EQ(torch::tensor(true).scalar_type(), torch::kBool);
  EXPECT_EQ(torch::tensor({1, 2}, torch::kDouble).scalar_type(),
            torch::kDouble);
  const Tensor nested = torch::tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(nested.sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(nested[1][2].item<int64_t>(), 6);
  EXPECT_EQ(torch::tensor(std::vector<float>{1, 2}).sizes(),
            at::IntArrayRef({2}));
  EXPECT_EQ(torch::tensor(3).dim(), 0);
}

TEST(Tensor, SublistsOfDifferentSizesAreAnError) {
  EXPECT_THROW((torch::tensor({{1, 2}, {3, 4}, {5, 6}, {7, 8}})[4]),
               c10::IndexError);
  using Data = torch::detail::TensorDataContainer;
  EXPECT_THROW(torch::tensor(Data{Data{1, 2, 3}, Data{4, 5}}), c10::Error);
}

TEST(Tensor, OptionsMakeTensors) {
  const auto options = torch::dtype(torch::kDouble).requires_grad(true);
  const Tensor t = torch::ones({2, 3}, options);
  EXPECT_EQ(t.dtype(), torch::kDouble);
  EXPECT_TRUE(t.requires_grad());
  EXPECT_TRUE(t.is_leaf());
  EXPECT_EQ(t.options().dtype(), caffe2::TypeMeta::Make<double>());
  EXPECT_EQ(torch::zeros(2, torch::kMeta).device(), torch::Device("meta"));
  EXPECT_THROW(torch::ones(2, torch::dtype(torch::kInt).requires_grad(true)),
               c10::Error);
}

TEST(Tensor, DevicesAsOptions) {
  const torch::TensorOptions named("cpu"), indexed({torch::kCPU, 0});
  EXPECT_TRUE(named.device().is_cpu());
  EXPECT_EQ(indexed.device_index(), 0);
  const torch::Tensor x = torch::ones({2}).to({torch::kCPU, 0});
  EXPECT_EQ(x.to(x.device(), torch::tensor(1).dtype()).scalar_type(),
            torch::kLong);
}

/// at::tensor keeps the numbers' type, torch::tensor does not.
TEST(Tensor, NumbersOfTheirOwnType) {
  EXPECT_EQ(at::tensor({1, 2, 3}).scalar_type(), at::kInt);
  EXPECT_EQ(torch::tensor({1, 2, 3}).scalar_type(), at::kLong);
  EXPECT_EQ(at::tensor(2.5).scalar_type(), at::kDouble);
  EXPECT_EQ(at::tensor(2.5).sizes(), at::IntArrayRef({1}));
  EXPECT_EQ(at::tensor(2.5, at::kComplexDouble)[0].item<c10::complex<double>>(),
            c10::complex<double>(2.5));
  EXPECT_THROW(at::tensor(c10::complex<float>(1, 2), at::kFloat),
               c10::NotImplementedError);
  EXPECT_EQ(at::tensor({1.5, 2.5}, at::kFloat).sum().item<float>(), 4);
}

TEST(Tensor, FunctionsInNamespaces) {
  const torch::Tensor x = torch::arange(8, torch::kDouble);
  EXPECT_TRUE(torch::fft::ifft(torch::fft::fft(x))
                  .allclose(x.to(torch::kComplexDouble)));
  EXPECT_TRUE(torch::special::expit(x).equal(at::sigmoid(x)));
  EXPECT_EQ(torch::linalg::det(torch::eye(3) * 2).item<float>(), 8);
}

TEST(Tensor, BlobIsNotCopiedAndItsDeleterIsCalledOnce) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  int deleted = 0;
  {
    const Tensor t = torch::from_blob(
        memory.data(), {3, 2}, {1, 3}, [&](void*) { ++deleted; },
        torch::kFloat);
    EXPECT_EQ(t[2][1].item<float>(), 6);
    const Tensor view = t.select(1, 0);
    t.mul_(2);
    EXPECT_EQ(memory[0], 2);
    EXPECT_EQ(deleted, 0);
    EXPECT_EQ(view[1].item<float>(), 4);
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_THROW(torch::from_blob(memory.data(), {-1}), c10::Error);
}

TEST(Tensor, AccessorsCheckDtypeAndDimensions) {
  const Tensor t = torch::arange(6, torch::kFloat).reshape({2, 3}).t();
  const auto a = t.accessor<float, 2>();
  EXPECT_EQ(a.size(0), 3);
  EXPECT_EQ(a[2][1], 5);
  EXPECT_THROW((t.accessor<double, 2>()), c10::Error);
  EXPECT_THROW((t.accessor<float, 3>()), c10::Error);
  EXPECT_THROW(t.data_ptr<int>(), c10::Error);
}

TEST(Tensor, IndicesOfEveryKind) {
  const Tensor t = grid();
  EXPECT_TRUE(same(t.index({1}), torch::tensor({4, 5, 6, 7})));
  EXPECT_TRUE(same(t.index({Slice(), -1}), torch::tensor({3, 7, 11})));
  EXPECT_TRUE(same(t.index({Slice(None, 2), Slice(1, None, 2)}),
                   torch::tensor({{1, 3}, {5, 7}})));
  EXPECT_EQ(t.index({None, "...", 0}).sizes(), at::IntArrayRef({1, 3}));
  EXPECT_TRUE(same(t.index({Ellipsis, 2}), torch::tensor({2, 6, 10})));
  EXPECT_TRUE(same(t.index({torch::tensor({2, 0}), torch::tensor({1, 3})}),
                   torch::tensor({9, 3})));
  EXPECT_TRUE(same(t.index({t > 8}), torch::tensor({9, 10, 11})));
  EXPECT_EQ(t.index({true}).sizes(), at::IntArrayRef({1, 3, 4}));
  EXPECT_EQ(t.index({false}).sizes(), at::IntArrayRef({0, 3, 4}));
  // A mask of two dimensions, and an index behind it.
  const Tensor cube = torch::arange(24).reshape({2, 3, 4});
  const Tensor mask =
      torch::tensor({{true, false, false}, {false, false, true}});
  EXPECT_TRUE(
      equal(cube.index({mask, torch::tensor({1, 2})}), torch::tensor({1, 22})));
  EXPECT_TRUE(same(cube.index({Slice(), torch::tensor({0, 2}), 3}),
                   torch::tensor({{3, 11}, {15, 23}})));
  EXPECT_THROW(t.index({0, 0, 0}), c10::IndexError);
  EXPECT_THROW(t.index({"foo"}), c10::ValueError);
  EXPECT_THROW(t.index({5}), c10::IndexError);
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    EXPECT_EQ(error.msg(), error.what_without_backtrace());
    return error.msg();
  }
  return "";
}

TEST(Tensor, IndicesThatAreNone) {
  const Tensor x = torch::arange(100).view({2, 5, 10});
  EXPECT_EQ(message([&] {
              x.index({0, 5});
            }),
            "index 5 is out of bounds for dimension 1 with size 5");
  EXPECT_EQ(message([&] {
              x.index({None, Slice(), -6});
            }),
            "index -6 is out of bounds for dimension 1 with size 5");
  EXPECT_EQ(message([&] { x[0][0].index({torch::tensor(10)}); }),
            "index 10 is out of bounds for dimension 0 with size 10");
  EXPECT_TRUE(message([] {
                torch::tensor(10).index({0});
              }).starts_with("invalid index of a 0-dim tensor"));
  for (const auto& put :
       std::vector<std::function<void()>>{[&] { x.clone().index_put_({}, 1); },
                                          [&] { x.clone().index_put_({}, x); }})
    EXPECT_EQ(message(put),
              "Passing an empty index list to Tensor::index_put_() is not "
              "valid syntax");
}

TEST(Tensor, EndsOfSlices) {
  using torch::indexing::INDEX_MAX;
  EXPECT_EQ(Slice(1, None, 2).stop(), INDEX_MAX);
  EXPECT_EQ(c10::str(Slice(None, None, -1)),
            c10::str(INDEX_MAX, ":", torch::indexing::INDEX_MIN, ":-1"));
  EXPECT_TRUE(same(grid().index({Slice(1, None, 2)}), grid().slice(0, 1, 2)));
  EXPECT_TRUE(same(grid().index({Slice(0, INDEX_MAX, INDEX_MAX)}),
                   grid().slice(0, 0, 1)));
}

/// 0 is a dimension, not `unbiased`.
TEST(Tensor, DeviationsAlongADimension) {
  const Tensor x = torch::arange(12.0).view({4, 3});
  const Tensor var = torch::full({3}, 15.0);
  EXPECT_TRUE(x.var(0).allclose(var));
  EXPECT_TRUE(torch::var(x, 0).allclose(var));
  EXPECT_TRUE(x.std(0).allclose(var.sqrt()));
  EXPECT_TRUE(torch::std(x, 0).allclose(var.sqrt()));
  EXPECT_TRUE(std::get<0>(torch::var_mean(x, 0)).allclose(var));
  EXPECT_TRUE(std::get<1>(torch::std_mean(x, 0)).allclose(x.mean(0)));
  EXPECT_EQ(x.var().dim(), 0);
  EXPECT_NE(x.var(false).item<float>(), x.var(true).item<float>());
}

TEST(Tensor, WritesThroughIndices) {
  Tensor t = grid();
  t.index_put_({1}, torch::tensor({1, 2, 3, 4}));
  t.index_put_({Slice(), 0}, 100);
  EXPECT_TRUE(same(
      t, torch::tensor({{100, 1, 2, 3}, {100, 2, 3, 4}, {100, 9, 10, 11}})));
  t.index_put_({t > 50}, -1);
  t.index_put_({torch::tensor({0, 2}), torch::tensor({1, 1})},
               torch::tensor({7, 8}));
  EXPECT_TRUE(
      same(t, torch::tensor({{-1, 7, 2, 3}, {-1, 2, 3, 4}, {-1, 8, 10, 11}})));
  t[0] = torch::zeros(4, torch::kLong);
  t[1][2] = 5;
  EXPECT_EQ(t.sum().item<int64_t>(), -1 + 2 + 5 + 4 - 1 + 8 + 10 + 11);
}

/// Leading ones of what is written do not count.
TEST(Tensor, WritesOfMoreDimensions) {
  Tensor x = torch::zeros({2, 3});
  const Tensor ones = torch::ones({1, 1, 2, 3});
  x.index_put_({true}, ones);
  EXPECT_TRUE(same(x, torch::ones({2, 3})));
  x.index_put_({torch::tensor({1, 0})}, 2 * ones);
  EXPECT_TRUE(same(x, torch::full({2, 3}, 2.0)));
  x.index_put_({Ellipsis}, 3 * ones);
  EXPECT_TRUE(same(x, torch::full({2, 3}, 3.0)));
}

TEST(Tensor, NumbersOnEitherSide) {
  const Tensor t = torch::tensor({1, 2, 4});
  EXPECT_TRUE(same(10 - t, torch::tensor({9, 8, 6})));
  EXPECT_TRUE(same(t + 1, torch::tensor({2, 3, 5})));
  EXPECT_TRUE(same(2 * t, torch::tensor({2, 4, 8})));
  EXPECT_EQ((t * 1.5).scalar_type(), torch::kFloat);
  EXPECT_TRUE((4.0 / t).allclose(torch::tensor({4.0, 2.0, 1.0})));
  EXPECT_TRUE(same(7 % t, torch::tensor({0, 1, 3})));
  EXPECT_TRUE(same(2 <= t, torch::tensor({false, true, true})));
  EXPECT_TRUE(same(-t, torch::tensor({-1, -2, -4})));
  Tensor u = t.clone();
  u += t;
  u *= 2;
  EXPECT_TRUE(same(u, torch::tensor({4, 8, 16})));
}

TEST(Tensor, OneSizeStandsForAllDimensions) {
  const Tensor image = torch::randn({1, 2, 8, 8});
  EXPECT_EQ(torch::max_pool2d(image, 2).sizes(), at::IntArrayRef({1, 2, 4, 4}));
  const Tensor weight = torch::randn({3, 2, 3, 3});
  EXPECT_EQ(torch::conv2d(image, weight, {}, 2, 1).sizes(),
            at::IntArrayRef({1, 3, 4, 4}));
  EXPECT_TRUE(torch::conv2d(image, weight, {}, 2, 1)
                  .equal(torch::conv2d(image, weight, {}, {2, 2}, {1, 1})));
}

TEST(Tensor, OutGoesToTheCallersTensor) {
  const Tensor a = torch::tensor({1.0, 2.0}), b = torch::tensor({3.0, 4.0});
  Tensor out = torch::empty({2});
  const void* memory = out.data_ptr();
  EXPECT_TRUE(torch::add_out(out, a, b).is_same(out));
  EXPECT_TRUE(same(out, torch::tensor({4.0, 6.0})));
  EXPECT_EQ(out.data_ptr(), memory);
  Tensor grown = torch::empty({0});
  torch::mul_outf(a, b, grown);
  EXPECT_TRUE(same(grown, torch::tensor({3.0, 8.0})));
  Tensor values = torch::empty({0}, grid().scalar_type()),
         indices = torch::empty({0}, torch::kLong);
  torch::max_out(values, indices, grid(), 1);
  EXPECT_TRUE(same(indices, torch::tensor({3, 3, 3})));
  Tensor whole = torch::empty({2}, torch::kInt);
  EXPECT_THROW(torch::add_out(whole, a, b), c10::Error);
}

TEST(Tensor, ItemFitsItsType) {
  EXPECT_EQ(torch::tensor(2.5).item<double>(), 2.5);
  EXPECT_EQ(torch::tensor(2.5).item<int>(), 2);
  EXPECT_THROW(torch::ones(2).item(), c10::Error);
  EXPECT_THROW(torch::Scalar(300).to<uint8_t>(), std::exception);
  EXPECT_THROW(torch::Scalar(1e30).toInt(), std::exception);
}

TEST(Tensor, TypesThatAreOnlyStored) {
  EXPECT_EQ(int(torch::ScalarType::UInt4), 33);
  EXPECT_EQ(int(torch::ScalarType::Float4_e2m1fn_x2), 45);
  EXPECT_STREQ(c10::toString(torch::ScalarType::Bits1x8), "Bits1x8");
  const torch::Tensor t = torch::zeros({2}, torch::ScalarType::UInt4);
  EXPECT_EQ(t.element_size(), 1);
  EXPECT_EQ(t.view(torch::kUInt8).scalar_type(), torch::kByte);
  EXPECT_FALSE(c10::isIntegralType(t.scalar_type(), true));
  EXPECT_TRUE(c10::isBarebonesUnsignedType(t.scalar_type()));
  EXPECT_TRUE(c10::isFloat8Type(torch::kFloat8_e8m0fnu));
  EXPECT_THROW(c10::isSignedType(torch::ScalarType::Bits8), c10::Error);
  EXPECT_THROW(t.to(torch::kFloat), c10::Error);
}

TEST(Tensor, UndefinedTensors) {
  const Tensor t;
  EXPECT_FALSE(t.defined());
  EXPECT_EQ(t.scalar_type(), torch::ScalarType::Undefined);
  EXPECT_EQ(t.data_ptr(), nullptr);
  EXPECT_EQ(t.numel(), 0);
  EXPECT_EQ(t.sizes(), at::IntArrayRef({0}));
  EXPECT_THROW(t.device(), c10::Error);
  EXPECT_THROW(at::add(t, torch::ones(2)), c10::Error);
}

TEST(Dispatch, EachDtypeGetsItsType) {
  const auto size = [](torch::ScalarType type) {
    return AT_DISPATCH_ALL_TYPES_AND(torch::kHalf, type, "size",
                                     [&] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(size(torch::kDouble), 8u);
  EXPECT_EQ(size(torch::kHalf), 2u);
  EXPECT_EQ(size(torch::kByte), 1u);
  try {
    size(torch::kBool);
    FAIL();
  } catch (const c10::NotImplementedError& error) {
    EXPECT_STREQ(error.what(), "\"size\" not implemented for 'Bool'");
  }
}

struct Listener : c10::WarningHandler {
  void process(const c10::Warning& warning) override {
    heard.push_back(warning.msg());
  }
  std::vector<std::string> heard;
};

TEST(Warnings, GoToTheThreadsHandler) {
  Listener outer, inner;
  const c10::WarningUtils::WarningHandlerGuard guard(&outer);
  {
    const c10::WarningUtils::WarningHandlerGuard nested(&inner);
    TORCH_WARN("one ", 1);
  }
  EXPECT_EQ(c10::WarningUtils::get_warning_handler(), &outer);
  TORCH_WARN("two");
  // Warnings of the library itself arrive, too.
  torch::nn::LSTM(torch::nn::LSTMOptions(2, 2).dropout(0.5));
  EXPECT_EQ(inner.heard, std::vector<std::string>{"one 1"});
  ASSERT_EQ(outer.heard.size(), 2u);
  EXPECT_EQ(outer.heard[0], "two");
}

TEST(Check, TextsOfFailedChecks) {
  try {
    const int n = 3;
    TORCH_CHECK(n == 2, "n is ", n);
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what(), "n is 3");
  }
  EXPECT_THROW(TORCH_CHECK_VALUE(false), c10::ValueError);
}

TEST(Parallel, LoopsCoverTheirRange) {
  std::vector<int> seen(1000);
  at::parallel_for(0, 1000, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[size_t(i)];
  });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 1000);
  const int64_t sum = at::parallel_reduce(
      int64_t{0}, int64_t{1000}, int64_t{10}, int64_t{0},
      [](int64_t begin, int64_t end, int64_t start) {
        for (int64_t i = begin; i < end; ++i) start += i;
        return start;
      },
      [](int64_t a, int64_t b) { return a + b; });
  EXPECT_EQ(sum, 499500);
}

TEST(Generator, SeedsGivePyTorchsDraws) {
  torch::manual_seed(0);
  const Tensor drawn = torch::rand(3);
  EXPECT_TRUE(drawn.allclose(torch::tensor({0.4962566, 0.7682218, 0.0884774}),
                             0, 1e-6));
  auto generator = at::detail::createCPUGenerator(0);
  EXPECT_TRUE(torch::rand({3}, generator).equal(drawn));
  auto copy = generator.clone();
  EXPECT_TRUE(torch::rand({3}, generator).equal(torch::rand({3}, copy)));
}

}  // namespace
