// Functions of PyTorch's that libtorch/operators adds to the registry's.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

namespace {

using at::Tensor;

bool close(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && at::allclose(a, b, 1e-5, 1e-6);
}

TEST(Declared, OtherNamesOfOperators) {
  Tensor x = torch::tensor({1.5, -2.0});
  EXPECT_TRUE(x.clone().absolute_().equal(x.abs()));
  EXPECT_TRUE(x.clone().divide_(x, "floor").equal(x.div(x, "floor")));
  EXPECT_TRUE(x.clone().subtract_(x, 2).equal(-x));
  EXPECT_TRUE(x.clone().greater_(0).equal(torch::tensor({1.0, 0.0})));
  EXPECT_TRUE(at::special_expit(x).equal(x.sigmoid()));
  EXPECT_TRUE(torch::special::log1p(x.abs()).equal(x.abs().log1p()));
  const Tensor n = torch::tensor({6, 3});
  EXPECT_TRUE(at::__and__(n, 2).equal(torch::tensor({2, 2})));
  EXPECT_TRUE(n.__lshift__(2).equal(torch::tensor({24, 12})));
  EXPECT_THROW(at::__lshift__(x, 2), c10::Error);
  Tensor m = n.clone();
  EXPECT_EQ(&m.__ixor__(3), &m);
  EXPECT_TRUE(m.equal(torch::tensor({5, 0})));
}

TEST(Declared, ResultsGoWhereOutSays) {
  const Tensor x = torch::tensor({1.5, -2.0});
  Tensor out = torch::empty({0});
  EXPECT_EQ(&at::special_expit_out(out, x), &out);
  EXPECT_TRUE(out.equal(x.sigmoid()));
  at::hann_window_out(out, 4);
  EXPECT_TRUE(close(out, torch::tensor({0.0, 0.5, 1.0, 0.5})));
  std::vector<Tensor> parts{torch::empty({0}), torch::empty({5})};
  at::unbind_copy_out(parts, x);
  EXPECT_EQ(parts[1].item<float>(), -2.0f);
  EXPECT_EQ(parts[1].dim(), 0);
  parts.pop_back();
  EXPECT_THROW(at::unbind_copy_out(parts, x), c10::Error);
}

TEST(Declared, WindowsAndRanges) {
  EXPECT_TRUE(close(torch::hann_window(5, false),
                    torch::tensor({0.0, 0.5, 1.0, 0.5, 0.0})));
  EXPECT_TRUE(
      close(torch::bartlett_window(4), torch::tensor({0.0, 0.5, 1.0, 0.5})));
  EXPECT_TRUE(close(torch::bartlett_window(6, false),
                    torch::tensor({0.0, 0.4, 0.8, 0.8, 0.4, 0.0})));
  EXPECT_TRUE(
      close(torch::hamming_window(3, false), torch::tensor({0.08, 1.0, 0.08})));
  EXPECT_TRUE(close(torch::blackman_window(5, false),
                    torch::tensor({0.0, 0.34, 1.0, 0.34, 0.0})));
  // numpy.kaiser(5, 12)
  EXPECT_TRUE(close(
      torch::kaiser_window(5, false, 12.0),
      torch::tensor({5.27734e-05, 0.215673, 1.0, 0.215673, 5.27734e-05})));
  EXPECT_EQ(torch::hann_window(0).numel(), 0);
  EXPECT_EQ(torch::hann_window(1, torch::kDouble).item<double>(), 1.0);
  EXPECT_TRUE(torch::hann_window(3, torch::requires_grad()).requires_grad());
  EXPECT_THROW(torch::hann_window(3, torch::kLong), c10::Error);
  EXPECT_THROW(torch::hann_window(-1), c10::Error);
  EXPECT_TRUE(
      torch::range(1, 4, torch::kLong).equal(torch::tensor({1, 2, 3, 4})));
  EXPECT_TRUE(torch::range(2, 1, -0.5).equal(torch::tensor({2.0, 1.5, 1.0})));
  EXPECT_THROW(torch::range(2, 1), c10::Error);
}

TEST(Declared, GradientsAreThoseOfAutograd) {
  const Tensor x = torch::randn({2, 3, 4, 4}, torch::kDouble).requires_grad_();
  const Tensor y = at::avg_pool2d(x, {2, 2});
  const Tensor g = torch::randn_like(y);
  const Tensor wanted = torch::autograd::grad({y}, {x}, {g})[0];
  const Tensor plain = x.detach();
  EXPECT_TRUE(close(at::avg_pool2d_backward(g, plain, {2, 2}, {}, {0, 0}, false,
                                            true, std::nullopt),
                    wanted));
  // Indices say where a maximum was, whatever the values are now.
  const auto [most, where] = at::adaptive_max_pool2d(plain, {2, 2});
  const Tensor back =
      at::adaptive_max_pool2d_backward(g, at::zeros_like(plain), where);
  EXPECT_TRUE(
      close(back.flatten(-2).gather(-1, where.flatten(-2)), g.flatten(-2)));
  EXPECT_EQ(back.count_nonzero().item<int64_t>(), g.numel());
  const Tensor s = plain.sigmoid();
  EXPECT_TRUE(close(at::sigmoid_backward(s, s), s * s * (1 - s)));
  // No graph is left behind, and one that is asked for is right.
  EXPECT_FALSE(at::silu_backward(plain, plain).requires_grad());
  const Tensor twice =
      at::slice_backward(g.clone().requires_grad_(), {2, 3, 2, 9}, 3, 1, 9, 4);
  EXPECT_TRUE(twice.requires_grad());
  EXPECT_TRUE(close(twice.slice(3, 1, 9, 4), g));
}

TEST(Declared, InPlaceOnDiagonalsAndOtherMemory) {
  Tensor tall = torch::zeros({5, 2});
  tall.fill_diagonal_(3, true);
  EXPECT_EQ(tall.sum().item<float>(), 12.0f);  // a row is left out between
  EXPECT_EQ(tall[3][0].item<float>(), 3.0f);
  EXPECT_EQ(tall[2].sum().item<float>(), 0.0f);
  Tensor x = torch::zeros({2});
  const Tensor other = torch::arange(6);
  x.set_(other, 1, {2, 2});
  EXPECT_TRUE(x.equal(torch::tensor({{1, 2}, {3, 4}})));
  EXPECT_TRUE(x.is_set_to(other.as_strided({2, 2}, {2, 1}, 1)));
}

TEST(Declared, Questions) {
  EXPECT_EQ(at::result_type(torch::zeros({2}, torch::kInt),
                            torch::zeros({2}, torch::kHalf)),
            at::kHalf);
  EXPECT_EQ(at::result_type(torch::zeros({2}, torch::kInt), 1.5), at::kFloat);
  EXPECT_EQ(at::result_type(torch::zeros({2}, torch::kBool), true), at::kBool);
  EXPECT_EQ(at::result_type(torch::zeros({2}, torch::kFloat),
                            torch::zeros({}, torch::kDouble)),
            at::kFloat);
  EXPECT_TRUE(at::can_cast(at::kInt, at::kHalf));
  EXPECT_FALSE(at::can_cast(at::kHalf, at::kInt));
  EXPECT_FALSE(at::can_cast(at::kInt, at::kBool));
  EXPECT_THROW(torch::zeros({2}).is_nonzero(), c10::Error);
}

TEST(Declared, WhatHotaruLacksSaysSo) {
  try {
    torch::zeros({2}).q_scale();
    FAIL();
  } catch (const c10::NotImplementedError& error) {
    EXPECT_NE(std::string(error.what()).find("aten::q_scale"),
              std::string::npos);
  }
}

TEST(Declared, NamesOfDimensionsAreRefused) {
  const Tensor x = torch::zeros({2, 3});
  EXPECT_FALSE(x.has_names());
  EXPECT_EQ(x.names().size(), 2u);
  EXPECT_TRUE(x.names()[0].isWildcard());
  const auto name = at::Dimname::fromSymbol(at::Symbol::dimname("batch"));
  EXPECT_STREQ(name.symbol().toUnqualString(), "batch");
  EXPECT_THROW(x.refine_names({name}), c10::NotImplementedError);
  EXPECT_TRUE(x.rename(std::nullopt).is_same(x));
}

TEST(Declared, FormsByHand) {
  const Tensor x = torch::rand({1, 2, 4, 4}, torch::kDouble);
  const Tensor w = torch::rand({3, 2, 2, 2}, torch::kDouble);
  Tensor input = x.clone().requires_grad_(), own = w.clone().requires_grad_();
  Tensor bias = torch::zeros(3, torch::kDouble).requires_grad_();
  const Tensor y = torch::conv2d(input, own, bias);
  y.sum().backward();
  const auto none = [] { return torch::empty(0, torch::kDouble); };
  Tensor a = none(), b = none(), c = none();
  at::_slow_conv2d_backward_out(a, b, c, torch::ones_like(y.detach()), x, w,
                                {2, 2}, {1, 1}, {0, 0});
  EXPECT_TRUE(a.allclose(input.grad()));
  EXPECT_TRUE(b.allclose(own.grad()));
  EXPECT_TRUE(c.allclose(bias.grad()));
  Tensor scale = torch::zeros(1), tracker = torch::zeros(1, torch::kInt);
  at::_amp_update_scale_out(scale, torch::full({1}, 8.0f), tracker,
                            torch::ones(1), 2.0, 0.5, 10);
  EXPECT_EQ(scale.item<float>(), 4);
  EXPECT_TRUE(at::_test_string_default(x).is_same(x));
  EXPECT_THROW(at::_test_string_default(x, "a"), c10::Error);
  EXPECT_THROW(at::align_tensors({x, w}), c10::NotImplementedError);
}

TEST(Declared, SavedVariablesSeeWrites) {
  Tensor x = torch::zeros({2});
  const torch::autograd::SavedVariable saved(x);
  EXPECT_TRUE(saved.unpack().is_same(x));
  x.add_(1);
  EXPECT_THROW(saved.unpack(), c10::Error);
}

}  // namespace
