// Other sizes of pictures, pictures sampled at places; distances.
#include "torch/nn/functional/vision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "source/nn/printed.h"
#include "torch/nn/functional/distance.h"
#include "torch/nn/functional/pooling.h"
#include "torch/nn/functional/upsampling.h"
#include "torch/nn/modules/distance.h"
#include "torch/nn/modules/upsampling.h"

namespace torch::nn {

namespace functional {

namespace {

/// The size wanted, and the factors that kernels go by.
struct Scaled {
  std::vector<int64_t> size;
  std::vector<std::optional<double>> factors;
};

Scaled scaled(const Tensor& input, const InterpolateFuncOptions& options) {
  const int64_t dims = input.dim() - 2;
  const auto& size = options.size();
  const auto& factor = options.scale_factor();
  if (!size && !factor)
    TORCH_CHECK(false, "either size or scale_factor should be defined");
  TORCH_CHECK(!size || !factor,
              "only one of size or scale_factor should be defined");
  const size_t given = size ? size->size() : factor->size();
  TORCH_CHECK(int64_t(given) == dims, size ? "size" : "scale_factor",
              " shape must match input shape. Input is ", dims, "D, ",
              size ? "size" : "scale_factor", " size is ", given);
  if (size) return {*size, std::vector<std::optional<double>>(given)};
  Scaled out;
  const bool again = options.recompute_scale_factor().value_or(false);
  for (int64_t d = 0; d < dims; ++d) {
    const double f = (*factor)[size_t(d)];
    out.size.push_back(int64_t(std::floor(double(input.size(d + 2)) * f)));
    out.factors.push_back(again ? std::nullopt : std::optional<double>(f));
  }
  return out;
}

[[noreturn]] void no_such_mode(const Tensor& input, const std::string& mode) {
  TORCH_CHECK(input.dim() >= 3 && input.dim() <= 5,
              "Input Error: Only 3D, 4D and 5D input Tensors supported (got ",
              input.dim(), "D) for the modes: nearest | linear | bilinear | ",
              "bicubic | trilinear (got ", mode, ")");
  TORCH_CHECK(false, "Got ", input.dim(), "D input, but ", mode,
              " mode needs another number of dimensions: kLinear 3, kBilinear "
              "and kBicubic 4, kTrilinear 5");
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options) {
  const auto& mode = options.mode();
  const std::string name = enumtype::get_enum_name(mode);
  const bool nearest = is_chosen<enumtype::kNearest>(mode);
  const bool exact = is_chosen<enumtype::kNearestExact>(mode);
  const bool area = is_chosen<enumtype::kArea>(mode);
  TORCH_CHECK(!(nearest || exact || area) || !options.align_corners(),
              "align_corners option can only be set with the interpolating "
              "modes: linear | bilinear | bicubic | trilinear");
  const bool corners = options.align_corners().value_or(false);
  const auto [size, s] = scaled(input, options);
  const int64_t dims = input.dim() - 2;
  TORCH_CHECK(!options.antialias() || ((is_chosen<enumtype::kBilinear>(mode) ||
                                        is_chosen<enumtype::kBicubic>(mode)) &&
                                       dims == 2),
              "Anti-alias option is only supported for bilinear and bicubic "
              "modes");
  if (area && dims == 1)
    return adaptive_avg_pool1d(input, AdaptiveAvgPool1dFuncOptions(size[0]));
  if (area && dims == 2)
    return adaptive_avg_pool2d(
        input, AdaptiveAvgPool2dFuncOptions({size[0], size[1]}));
  if (area && dims == 3)
    return adaptive_avg_pool3d(
        input, AdaptiveAvgPool3dFuncOptions({size[0], size[1], size[2]}));
  if (nearest && dims == 1) return torch::upsample_nearest1d(input, size, s[0]);
  if (nearest && dims == 2)
    return torch::upsample_nearest2d(input, size, s[0], s[1]);
  if (nearest && dims == 3)
    return torch::upsample_nearest3d(input, size, s[0], s[1], s[2]);
  if (exact && dims == 1)
    return torch::_upsample_nearest_exact1d(input, size, s[0]);
  if (exact && dims == 2)
    return torch::_upsample_nearest_exact2d(input, size, s[0], s[1]);
  if (exact && dims == 3)
    return torch::_upsample_nearest_exact3d(input, size, s[0], s[1], s[2]);
  if (is_chosen<enumtype::kLinear>(mode) && dims == 1)
    return torch::upsample_linear1d(input, size, corners, s[0]);
  if (is_chosen<enumtype::kBilinear>(mode) && dims == 2)
    return options.antialias()
               ? torch::_upsample_bilinear2d_aa(input, size, corners, s[0],
                                                s[1])
               : torch::upsample_bilinear2d(input, size, corners, s[0], s[1]);
  if (is_chosen<enumtype::kBicubic>(mode) && dims == 2)
    return options.antialias()
               ? torch::_upsample_bicubic2d_aa(input, size, corners, s[0], s[1])
               : torch::upsample_bicubic2d(input, size, corners, s[0], s[1]);
  if (is_chosen<enumtype::kTrilinear>(mode) && dims == 3)
    return torch::upsample_trilinear3d(input, size, corners, s[0], s[1], s[2]);
  no_such_mode(input, name);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid,
                   const GridSampleFuncOptions& options) {
  const auto& border = options.padding_mode();
  const int64_t padding = is_chosen<enumtype::kZeros>(border)    ? 0
                          : is_chosen<enumtype::kBorder>(border) ? 1
                                                                 : 2;
  if (!options.align_corners())
    TORCH_WARN(
        "Default grid_sample and affine_grid behavior has changed to "
        "align_corners=False since 1.3.0. Please specify align_corners=True "
        "if the old behavior is desired. See the documentation of grid_sample "
        "for details.");
  return torch::grid_sampler(
      input, grid, is_chosen<enumtype::kNearest>(options.mode()) ? 1 : 0,
      padding, options.align_corners().value_or(false));
}

Tensor affine_grid(const Tensor& theta, at::IntArrayRef size,
                   bool align_corners) {
  TORCH_CHECK(theta.is_floating_point(),
              "Expected theta to have floating point type, but got ",
              theta.dtype());
  TORCH_CHECK(size.size() == 4 || size.size() == 5,
              "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
              "transforms, respectively. Got size ",
              size);
  const int64_t d = int64_t(size.size()) - 2;
  TORCH_CHECK(theta.dim() == 3 && theta.size(1) == d && theta.size(2) == d + 1,
              "Expected a batch of ", d, "D affine matrices of shape Nx", d,
              "x", d + 1, " for size ", size, ". Got ", theta.sizes(), ".");
  TORCH_CHECK(*std::min_element(size.begin(), size.end()) > 0,
              "Expected non-zero, positive output size. Got ", size);
  return torch::affine_grid_generator(theta, size, align_corners);
}

}  // namespace functional

Tensor UpsampleImpl::forward(const Tensor& input) {
  functional::InterpolateFuncOptions given;
  given.size(options.size())
      .scale_factor(options.scale_factor())
      .align_corners(options.align_corners());
  std::visit([&](const auto& mode) { given.mode(mode); }, options.mode());
  return functional::interpolate(input, given);
}
void UpsampleImpl::pretty_print(std::ostream& out) const {
  Printed printed(out, "Upsample");
  if (options.scale_factor())
    printed.with("scale_factor", at::ArrayRef<double>(*options.scale_factor()));
  else if (options.size())
    printed.with("size", at::IntArrayRef(*options.size()));
  printed.with("mode", enumtype::get_enum_name(options.mode()));
}

Tensor CosineSimilarityImpl::forward(const Tensor& x1, const Tensor& x2) {
  return functional::cosine_similarity(x1, x2, options);
}
void CosineSimilarityImpl::pretty_print(std::ostream& out) const {
  Printed(out, "CosineSimilarity")
      .with("dim", options.dim())
      .with("eps", options.eps());
}
Tensor PairwiseDistanceImpl::forward(const Tensor& x1, const Tensor& x2) {
  return functional::pairwise_distance(x1, x2, options);
}
void PairwiseDistanceImpl::pretty_print(std::ostream& out) const {
  Printed(out, "PairwiseDistance")
      .with("p", options.p())
      .with("eps", options.eps())
      .with("keepdim", options.keepdim());
}

}  // namespace torch::nn
