// Values of declared functions beside PyTorch's (golden/make_declared.py).
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <iterator>

namespace {

using at::Tensor;

/// Sines of multiples, in that shape.
Tensor S(const std::vector<int64_t>& sizes, double k) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return (at::arange(n, at::kDouble) * k).sin().reshape(sizes);
}

TEST(Declared, ValuesAreThoseOfPyTorch) {
  std::ifstream in(HOTARU_GOLDEN "/declared.pt", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const auto golden = torch::pickle_load(bytes).toGenericDict();
  size_t compared = 0;
  const auto p = [&](const char* name, const Tensor& value) {
    const Tensor wanted = golden.at(name).toTensor();
    ++compared;
    EXPECT_EQ(value.scalar_type(), wanted.scalar_type()) << name;
    // PyTorch's hardsigmoid has a third of float32 in it.
    EXPECT_TRUE(value.sizes() == wanted.sizes() &&
                at::allclose(value, wanted, 1e-7, 1e-8))
        << name;
  };
  Tensor x = S({2, 3, 8, 8}, .37), y = S({4, 5}, .61), g = S({4, 5}, .83),
         t01 = S({4, 5}, .29).sigmoid();
  Tensor lab = at::arange(4, at::kLong) % 5;
  p("affine", at::affine_grid_generator_backward(S({2, 3, 4, 2}, .3),
                                                 {2, 3, 3, 4}, true));
  p("bce", at::binary_cross_entropy_backward(at::ones({}, at::kDouble), t01,
                                             t01 * .5, std::nullopt, 1));
  p("mse", at::mse_loss_backward(g, y, t01, 0));
  p("sl1", at::smooth_l1_loss_backward(g, y, t01, 0, .5));
  p("huber", at::huber_loss_backward(g, y, t01, 0, .5));
  p("softm", at::soft_margin_loss_backward(g, y, t01.sign(), 0));
  p("mm", at::multi_margin_loss_backward(at::ones({}, at::kDouble), y, lab, 1,
                                         1, std::nullopt, 1));
  p("gelu", at::gelu_backward(g, y, "tanh"));
  p("silu", at::silu_backward(g, y));
  p("mish", at::mish_backward(g, y));
  p("hsig", at::hardsigmoid_backward(g, y * 4));
  p("hsw", at::hardswish_backward(g, y * 4));
  p("htanh", at::hardtanh_backward(g, y, -.5, .5));
  p("sp", at::softplus_backward(g, y, 2, 1));
  p("ss", at::softshrink_backward(g, y, .3));
  p("hs", at::hardshrink_backward(g, y, .3));
  p("glu", at::glu_backward(S({4, 2}, .5), S({4, 4}, .7), 1));
  p("elu", at::elu_backward(g, 1.5, 1.1, .7, false, y));
  p("elur", at::elu_backward(g, 1.5, 1.1, .7, true, y));
  p("lrelu", at::leaky_relu_backward(g, y, .2, false));
  p("thr", at::threshold_backward(g, y, .1));
  p("sig", at::sigmoid_backward(g, y));
  p("tanh", at::tanh_backward(g, y));
  p("logit", at::logit_backward(g, t01, .4));
  p("rr", at::rrelu_with_noise_backward(g, y, t01, .1, .3, false, false));
  p("ap2", at::avg_pool2d_backward(S({2, 3, 4, 4}, .5), x, {3, 3}, {2, 2},
                                   {1, 1}, false, false, std::nullopt));
  p("aap", at::_adaptive_avg_pool2d_backward(S({2, 3, 3, 3}, .5), x));
  p("rp2",
    at::reflection_pad2d_backward(S({2, 3, 10, 11}, .5), x, {1, 2, 1, 1}));
  p("rep1", at::replication_pad1d_backward(S({3, 8, 11}, .5), x[0], {1, 2}));
  p("ubi", at::upsample_bilinear2d_backward(S({2, 3, 12, 5}, .5), {12, 5},
                                            {2, 3, 8, 8}, false));
  p("ubc", at::upsample_bicubic2d_backward(S({2, 3, 12, 5}, .5), {12, 5},
                                           {2, 3, 8, 8}, true));
  p("un1", at::upsample_nearest1d_backward(S({2, 3, 12}, .5), {12}, {2, 3, 8}));
  p("une", at::_upsample_nearest_exact2d_backward(S({2, 3, 12, 5}, .5), {12, 5},
                                                  {2, 3, 8, 8}));
  p("ubaa", at::_upsample_bilinear2d_aa_backward(S({2, 3, 5, 5}, .5), {5, 5},
                                                 {2, 3, 8, 8}, false));
  p("diag", at::diagonal_backward(S({4}, .5), {4, 5}, 0, 0, 1));
  p("sel", at::select_backward(S({4}, .5), {4, 5}, 1, 2));
  p("unf", at::unfold_backward(S({3, 5, 2}, .5), {4, 5}, 0, 2, 1));
  p("tr", at::trace_backward(at::ones({}, at::kDouble), {4, 5}));
  p("ccm", at::cumprod_backward(g, y, 1, y.cumprod(1)));
  p("mexp", at::matrix_exp_backward(S({4, 4}, .2), S({4, 4}, .4)));
  p("pd", at::_pdist_backward(S({6}, .3), y, 2., at::pdist(y, 2.)));
  p("cd", at::_cdist_backward(S({4, 4}, .3), y, g, 2., at::cdist(y, g)));
  p("hann", at::hann_window(9, at::kDouble));
  p("black", at::blackman_window(8, at::kDouble));
  p("bart", at::bartlett_window(7, false, at::kDouble));
  p("kai", at::kaiser_window(8, true, 6., at::kDouble));
  p("hamm", at::hamming_window(8, true, .6, .3, at::kDouble));
  p("range", at::range(.5, 4.2, .3, at::kDouble));
  p("vand", at::vander(y[0], 3, true));
  p("vandd", at::vander(y[0]));
  p("csr", at::_convert_indices_from_coo_to_csr(
               at::floor(at::arange(6) / 2).to(at::kLong), 5));
  Tensor f = at::zeros({7, 3}, at::kDouble);
  f.fill_diagonal_(2, true);
  p("fd", f);
  Tensor f3 = at::zeros({3, 3, 3}, at::kDouble);
  f3.fill_diagonal_(2);
  p("fd3", f3);
  p("ms", at::masked_scatter_backward(g, y > 0, {12}));
  p("vsr",
    at::value_selecting_reduction_backward(S({4}, .5), 1, lab, {4, 5}, false));
  p("hdd", at::_histogramdd_from_bin_cts(S({20, 2}, .5), {3, 4}));
  p("nll",
    at::nll_loss_backward(at::ones({}, at::kDouble), y, lab, std::nullopt, 1,
                          -100, at::full({}, 4., at::kDouble)));
  p("mx3", at::max_pool3d_with_indices_backward(
               S({3, 4, 4, 4}, .5), S({3, 8, 8, 8}, .37), {2, 2, 2}, {2, 2, 2},
               {0, 0, 0}, {1, 1, 1}, false,
               std::get<1>(at::max_pool3d_with_indices(S({3, 8, 8, 8}, .37),
                                                       {2, 2, 2}))));
  EXPECT_EQ(compared, golden.size());
}

}  // namespace
