// Pictures in other sizes.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

// Factors, where the call gives any: of the list, or one a dimension.
std::vector<double> factors(const Lowering& l, int64_t n) {
  if (l.given("scale_factors")) return l.reals("scale_factors");
  std::vector<double> out;
  for (const char* name : {"scales", "scales_d", "scales_h", "scales_w"})
    if (l.given(name)) out.push_back(l.real(name));
  return int64_t(out.size()) == n ? out : std::vector<double>{};
}

// The sizes behind the second of x times these factors, rounded down.
std::string scaled_sizes(const Lowering& l, const std::string& x,
                         const std::vector<double>& scales) {
  Names parts;
  for (const double scale : scales)
    parts.push_back(l.unsqueeze(l.number(Scalar(scale), DType::kFloat64), {0}));
  const std::string factors = l.op("Concat", parts, {attr("axis", 0)});
  const std::string sizes = l.cast(l.sizes_of(x, 2, 2 + int64_t(scales.size())),
                                   DType::kInt64, DType::kFloat64);
  return l.cast(l.op("Floor", {l.op("Mul", {sizes, factors})}), DType::kFloat64,
                DType::kInt64);
}

void resized(Lowering& l, std::vector<Attribute> attributes) {
  const int64_t rank = l.rank();
  const int64_t n = rank - 2;
  const std::string x = l.tensor(0);
  const std::vector<double> scales = factors(l, n);
  // Corners are aligned by the size as it is, rounded down, which readers of
  // factors take for the product: sizes are written.
  const bool by_size = l.has("align_corners") && l.flag("align_corners");
  if (!scales.empty() && !by_size) {
    for (int64_t i = 0; i < n; ++i) {
      const auto in = l.example(0).size(2 + i), out = l.out().size(2 + i);
      if (in && out && *out != int64_t(double(*in) * scales[size_t(i)]))
        l.refuse("factors that do not give the output's size");
    }
    Names parts;
    std::vector<double> all = {1, 1};
    all.insert(all.end(), scales.begin(), scales.end());
    for (double each : all) {
      parts.push_back(
          l.unsqueeze(l.number(Scalar(each), DType::kFloat32), {0}));
    }
    return l.result(l.op("Resize",
                         {x, "", l.op("Concat", parts, {attr("axis", 0)})},
                         attributes));
  }
  Ints known;
  for (int64_t i = 2; i < rank; ++i) {
    const auto size = l.out().size(i);
    if (!size) break;
    known.push_back(*size);
  }
  const std::string sizes = int64_t(known.size()) == n ? l.ints(known)
                            : scales.empty()           ? l.shape("output_size")
                                             : scaled_sizes(l, x, scales);
  l.result(
      l.op("Resize",
           {x, "", "",
            l.op("Concat", {l.sizes_of(x, 0, 2), sizes}, {attr("axis", 0)})},
           attributes));
}

void nearest(Lowering& l) {
  resized(l, {attr("mode", "nearest"),
              attr("coordinate_transformation_mode", "asymmetric"),
              attr("nearest_mode", "floor")});
}

void nearest_exact(Lowering& l) {
  resized(l, {attr("mode", "nearest"),
              attr("coordinate_transformation_mode", "half_pixel"),
              attr("nearest_mode", "round_prefer_ceil")});
}

const char* corners(const Lowering& l) {
  return l.flag("align_corners") ? "align_corners" : "half_pixel";
}

void linear(Lowering& l) {
  resized(l, {attr("mode", "linear"),
              attr("coordinate_transformation_mode", corners(l))});
}

void cubic(Lowering& l) {
  resized(l, {attr("mode", "cubic"),
              attr("coordinate_transformation_mode", corners(l)),
              attr("cubic_coeff_a", -0.75)});
}

void linear_smooth(Lowering& l) {
  if (l.opset() < 18) l.refuse("needs opset 18");
  resized(l, {attr("mode", "linear"), attr("antialias", 1),
              attr("exclude_outside", 1),
              attr("coordinate_transformation_mode", corners(l))});
}

void cubic_smooth(Lowering& l) {
  if (l.opset() < 18) l.refuse("needs opset 18");
  // Antialiased pictures are made with another kernel.
  resized(l, {attr("mode", "cubic"), attr("antialias", 1),
              attr("exclude_outside", 1),
              attr("coordinate_transformation_mode", corners(l)),
              attr("cubic_coeff_a", -0.5)});
}

void grid_sampler(Lowering& l) {
  if (l.opset() < 16) l.refuse("needs opset 16");
  const int64_t mode = l.integer("interpolation_mode");
  const int64_t padding = l.integer("padding_mode");
  const bool named = l.opset() >= 20;
  const char* linear = named ? "linear" : "bilinear";
  const char* cubic = named ? "cubic" : "bicubic";
  const char* how = mode == 0 ? linear : mode == 1 ? "nearest" : cubic;
  const char* beyond = padding == 0   ? "zeros"
                       : padding == 1 ? "border"
                                      : "reflection";
  l.result(l.op("GridSample", {l.tensor(0), l.tensor("grid")},
                {attr("mode", how), attr("padding_mode", beyond),
                 attr("align_corners", int64_t{l.flag("align_corners")})}));
}

void affine_grid(Lowering& l) {
  if (l.opset() < 20) l.refuse("needs opset 20");
  l.result(l.op("AffineGrid", {l.tensor("theta"), l.shape("size")},
                {attr("align_corners", int64_t{l.flag("align_corners")})}));
}

constexpr Row kResizeRows[] = {
    {"upsample_nearest1d", nearest},
    {"upsample_nearest2d", nearest},
    {"upsample_nearest3d", nearest},
    {"_upsample_nearest_exact1d", nearest_exact},
    {"_upsample_nearest_exact2d", nearest_exact},
    {"_upsample_nearest_exact3d", nearest_exact},
    {"upsample_linear1d", linear},
    {"upsample_bilinear2d", linear},
    {"upsample_trilinear3d", linear},
    {"upsample_bicubic2d", cubic},
    {"_upsample_bilinear2d_aa", linear_smooth},
    {"_upsample_bicubic2d_aa", cubic_smooth},
    {"grid_sampler", grid_sampler},
    {"grid_sampler_2d", grid_sampler},
    {"affine_grid_generator", affine_grid},
};

}  // namespace

Rows resize_rows() {
  return kResizeRows;
}

}  // namespace hotaru::exchange::onnx_out
