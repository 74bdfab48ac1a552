// Interpolation: what nn.functional.interpolate calls.
#include "hotaru/backend/common/resample/resample.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/linear_map.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

// One registered family: its node's name, its mode, its spatial dimensions.
struct Family {
  const char* node;
  ResampleMode mode;
  int64_t dims;
  bool antialias = false;
};

constexpr Family kNearest1{"UpsampleNearest1DBackward0", ResampleMode::kNearest,
                           1};
constexpr Family kNearest2{"UpsampleNearest2DBackward0", ResampleMode::kNearest,
                           2};
constexpr Family kNearest3{"UpsampleNearest3DBackward0", ResampleMode::kNearest,
                           3};
constexpr Family kExact1{"UpsampleNearestExact1DBackward0",
                         ResampleMode::kNearestExact, 1};
constexpr Family kExact2{"UpsampleNearestExact2DBackward0",
                         ResampleMode::kNearestExact, 2};
constexpr Family kExact3{"UpsampleNearestExact3DBackward0",
                         ResampleMode::kNearestExact, 3};
constexpr Family kLinear1{"UpsampleLinear1DBackward0", ResampleMode::kLinear,
                          1};
constexpr Family kLinear2{"UpsampleBilinear2DBackward0", ResampleMode::kLinear,
                          2};
constexpr Family kLinear3{"UpsampleTrilinear3DBackward0", ResampleMode::kLinear,
                          3};
constexpr Family kCubic2{"UpsampleBicubic2DBackward0", ResampleMode::kCubic, 2};
constexpr Family kSmoothLinear2{"UpsampleBilinear2DAaBackward0",
                                ResampleMode::kLinear, 2, true};
constexpr Family kSmoothCubic2{"UpsampleBicubic2DAaBackward0",
                               ResampleMode::kCubic, 2, true};
constexpr Family kSmoothLanczos2{"UpsampleLanczos2DAaBackward0",
                                 ResampleMode::kLanczos, 2, true};

// "(H: 3, W: 3)".
std::string named(IntSpan sizes) {
  std::string out = "(";
  for (size_t i = 0; i < sizes.size(); ++i)
    out += concat(i ? ", " : "", "DHW"[3 - sizes.size() + i], ": ", sizes[i]);
  return out + ")";
}

Tensor resample(const Family& family, const Tensor& input, IntSpan output_size,
                bool align_corners, std::array<double, 3> scales) {
  static const Kernel& forward = kernel("resample");
  static const Kernel& transposed = kernel("resample_transposed");
  const size_t dims = size_t(family.dims);
  HOTARU_CHECK(output_size.size() == dims,
               "It is expected output_size equals to ", dims, ", but got size ",
               output_size.size());
  HOTARU_CHECK(input.dim() == family.dims + 2,
               "It is expected input_size equals to ", dims + 2,
               ", but got size ", input.dim());
  bool positive = true;
  Dims size(input.sizes());
  for (size_t d = 0; d < dims; ++d) {
    positive &= size[d + 2] > 0 && output_size[d] > 0;
    size[d + 2] = output_size[d];
  }
  HOTARU_CHECK(
      positive,
      "Input and output sizes should be greater than 0, but got input ",
      named(input.sizes().subspan(2)), dims == 1 ? " and" : "", " output ",
      named(output_size));
  HOTARU_CHECK(input.size(1) > 0, "Non-empty ", dims + 2,
               "D data tensor expected but got a tensor with sizes ",
               shape_text(input.sizes()));
  const bool reads_bytes = family.mode != ResampleMode::kLinear || dims == 2;
  if (!is_floating_point(input.dtype()) &&
      !(input.dtype() == DType::kUInt8 && reads_bytes))
    refuse_dtype(family.mode == ResampleMode::kLinear
                     ? "compute_indices_weights_linear"
                 : family.mode == ResampleMode::kCubic
                     ? "compute_indices_weights_cubic"
                     : "compute_indices_weights_nearest",
                 input.dtype());
  const bool bytes =
      input.dtype() == DType::kUInt8 && family.mode != ResampleMode::kLanczos;
  HOTARU_CHECK(!family.antialias || is_floating_point(input.dtype()) || bytes,
               "interpolate: antialias needs a floating point input, but got ",
               scalar_type_name(input.dtype()));
  if (family.antialias && itemsize(input.dtype()) == 2 &&
      !same(size, input.sizes()))
    refuse_dtype("compute_index_ranges_weights", input.dtype());
  ResampleAttributes a;
  a.antialias = family.antialias;
  a.mode = family.mode;
  a.dims = family.dims;
  a.align_corners = align_corners;
  // Below 2^-40 every position lies outside all the same, and would overflow.
  for (double& scale : scales)
    if (scale > 0) scale = std::max(scale, 0x1p-40);
  a.scales = scales;
  return in_format_of(
      input, apply_linear({family.node, family.node, &forward, &transposed},
                          input, size, a));
}

// The .vec overloads: an output size or scale factors.
Tensor by_size_or_scale(const Family& family, const Tensor& input,
                        const Optional<IntSpan>& output_size,
                        bool align_corners, const Value& factors) {
  const bool scaled = !factors.is_none();
  HOTARU_CHECK(output_size.has_value() != scaled,
               "Must specify exactly one of output_size and scale_factors");
  if (output_size)
    return resample(family, input, *output_size, align_corners, {});
  const auto& items =
      factors.is_tuple() ? factors.as_tuple().items : factors.as_list().items;
  const size_t dims = size_t(family.dims);
  HOTARU_CHECK(items.size() == dims && input.dim() == family.dims + 2,
               "It is expected scale_factors has ", dims,
               " elements and input ", dims + 2, " dimensions, but got ",
               items.size(), " and ", input.dim());
  Dims size;
  std::array<double, 3> scales{};
  for (size_t d = 0; d < dims; ++d) {
    scales[d] = items[d].to_double();
    const double wanted = double(input.sizes()[d + 2]) * scales[d];
    HOTARU_CHECK(wanted >= 0 && wanted < 9e15, "scale factor ", scales[d],
                 " is out of range");
    size.push_back(int64_t(wanted));
  }
  return resample(family, input, size, align_corners, scales);
}

using Scale = Optional<double>;

template <const Family& F>
Tensor sized1(const Tensor& self, IntSpan size, const Scale& s) {
  return resample(F, self, size, false, {s.value_or(0)});
}
template <const Family& F>
Tensor sized2(const Tensor& self, IntSpan size, const Scale& h,
              const Scale& w) {
  return resample(F, self, size, false, {h.value_or(0), w.value_or(0)});
}
template <const Family& F>
Tensor sized3(const Tensor& self, IntSpan size, const Scale& d, const Scale& h,
              const Scale& w) {
  return resample(F, self, size, false,
                  {d.value_or(0), h.value_or(0), w.value_or(0)});
}
template <const Family& F>
Tensor aligned1(const Tensor& self, IntSpan size, bool align, const Scale& s) {
  return resample(F, self, size, align, {s.value_or(0)});
}
template <const Family& F>
Tensor aligned2(const Tensor& self, IntSpan size, bool align, const Scale& h,
                const Scale& w) {
  return resample(F, self, size, align, {h.value_or(0), w.value_or(0)});
}
template <const Family& F>
Tensor aligned3(const Tensor& self, IntSpan size, bool align, const Scale& d,
                const Scale& h, const Scale& w) {
  return resample(F, self, size, align,
                  {d.value_or(0), h.value_or(0), w.value_or(0)});
}
template <const Family& F>
Tensor vec(const Tensor& input, const Optional<IntSpan>& size,
           const Value& factors) {
  return by_size_or_scale(F, input, size, false, factors);
}
template <const Family& F>
Tensor aligned_vec(const Tensor& input, const Optional<IntSpan>& size,
                   bool align, const Value& factors) {
  return by_size_or_scale(F, input, size, align, factors);
}

}  // namespace

#define HOTARU_UPSAMPLE_VEC(name, align, function) \
  HOTARU_OP(name ".vec(Tensor input, int[]? output_size, " align \
                 "float[]? scale_factors) -> Tensor", \
            function)
#define HOTARU_UPSAMPLE1(name, align, function) \
  HOTARU_OP(name "(Tensor self, int[1] output_size, " align \
                 "float? scales=None) -> Tensor", \
            function)
#define HOTARU_UPSAMPLE2(name, align, function) \
  HOTARU_OP(name "(Tensor self, int[2] output_size, " align \
                 "float? scales_h=None, float? scales_w=None) -> Tensor", \
            function)
#define HOTARU_UPSAMPLE3(name, align, function) \
  HOTARU_OP(name "(Tensor self, int[3] output_size, " align \
                 "float? scales_d=None, float? scales_h=None, " \
                 "float? scales_w=None) -> Tensor", \
            function)
#define HOTARU_ALIGN "bool align_corners, "

HOTARU_UPSAMPLE_VEC("upsample_nearest1d", "", vec<kNearest1>);
HOTARU_UPSAMPLE_VEC("upsample_nearest2d", "", vec<kNearest2>);
HOTARU_UPSAMPLE_VEC("upsample_nearest3d", "", vec<kNearest3>);
HOTARU_UPSAMPLE_VEC("_upsample_nearest_exact1d", "", vec<kExact1>);
HOTARU_UPSAMPLE_VEC("_upsample_nearest_exact2d", "", vec<kExact2>);
HOTARU_UPSAMPLE_VEC("_upsample_nearest_exact3d", "", vec<kExact3>);
HOTARU_UPSAMPLE_VEC("upsample_linear1d", HOTARU_ALIGN, aligned_vec<kLinear1>);
HOTARU_UPSAMPLE_VEC("upsample_bilinear2d", HOTARU_ALIGN, aligned_vec<kLinear2>);
HOTARU_UPSAMPLE_VEC("upsample_trilinear3d", HOTARU_ALIGN,
                    aligned_vec<kLinear3>);
HOTARU_UPSAMPLE_VEC("upsample_bicubic2d", HOTARU_ALIGN, aligned_vec<kCubic2>);
HOTARU_UPSAMPLE_VEC("_upsample_bilinear2d_aa", HOTARU_ALIGN,
                    aligned_vec<kSmoothLinear2>);
HOTARU_UPSAMPLE_VEC("_upsample_bicubic2d_aa", HOTARU_ALIGN,
                    aligned_vec<kSmoothCubic2>);
HOTARU_UPSAMPLE_VEC("_upsample_lanczos2d_aa", HOTARU_ALIGN,
                    aligned_vec<kSmoothLanczos2>);
HOTARU_UPSAMPLE1("upsample_nearest1d", "", sized1<kNearest1>);
HOTARU_UPSAMPLE1("_upsample_nearest_exact1d", "", sized1<kExact1>);
HOTARU_UPSAMPLE1("upsample_linear1d", HOTARU_ALIGN, aligned1<kLinear1>);
HOTARU_UPSAMPLE2("upsample_nearest2d", "", sized2<kNearest2>);
HOTARU_UPSAMPLE2("_upsample_nearest_exact2d", "", sized2<kExact2>);
HOTARU_UPSAMPLE2("upsample_bilinear2d", HOTARU_ALIGN, aligned2<kLinear2>);
HOTARU_UPSAMPLE2("upsample_bicubic2d", HOTARU_ALIGN, aligned2<kCubic2>);
HOTARU_UPSAMPLE2("_upsample_bilinear2d_aa", HOTARU_ALIGN,
                 aligned2<kSmoothLinear2>);
HOTARU_UPSAMPLE2("_upsample_bicubic2d_aa", HOTARU_ALIGN,
                 aligned2<kSmoothCubic2>);
HOTARU_UPSAMPLE2("_upsample_lanczos2d_aa", HOTARU_ALIGN,
                 aligned2<kSmoothLanczos2>);
HOTARU_UPSAMPLE3("upsample_nearest3d", "", sized3<kNearest3>);
HOTARU_UPSAMPLE3("_upsample_nearest_exact3d", "", sized3<kExact3>);
HOTARU_UPSAMPLE3("upsample_trilinear3d", HOTARU_ALIGN, aligned3<kLinear3>);

}  // namespace hotaru
