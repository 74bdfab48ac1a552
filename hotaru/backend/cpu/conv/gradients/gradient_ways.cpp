#include "hotaru/backend/cpu/conv/gradients/gradient_ways.h"

#include <algorithm>
#include <complex>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/conv/amx/plane_conv.h"
#include "hotaru/backend/cpu/conv/amx/plane_weights.h"
#include "hotaru/backend/cpu/conv/gradients/blocked_gradients.h"
#include "hotaru/backend/cpu/conv/unrolled.h"
#include "hotaru/backend/cpu/conv/ways.h"
#include "hotaru/backend/cpu/wide.h"

namespace hotaru {
namespace {

// Positions of all images up to which dy is turned and the weight read in
// place.
constexpr int64_t kFewPositions = 64;
// Positions of all images, and channels, from which it pays to bring pictures
// into blocks for the gradient of the weight; for that of the input a quarter
// of the positions.
constexpr int64_t kBlockPositions = 512, kBlockChannels = 8;
// Rows, positions and multiply-adds below which AMX's tiles have too little to
// do for a weight.
constexpr int64_t kTileRows = 8, kTilePositions = 32, kTileWork = 1 << 18;

template <class T>
bool overhangs(const ConvGradient<T>& call) {
  return !call.fits;
}

/// Tells whether all padding is within what a turned kernel reaches.
bool padding_is_reached(const ConvGeometry& g) {
  for (size_t i = 0; i < 3; ++i)
    if (g.padding[i] > g.dilation[i] * (g.kernel[i] - 1)) return false;
  return true;
}

template <class T>
bool turns_depthwise(const ConvGradient<T>& call) {
  const ConvGeometry& g = call.geometry;
  return g.groups > 1 && g.channels_per_group() == 1 &&
         g.outputs_per_group() == 1 && padding_is_reached(g);
}
template <class T>
bool is_one_group(const ConvGradient<T>& call) {
  return call.geometry.groups == 1;
}
template <class T>
bool has_few_positions(const ConvGradient<T>& call) {
  return call.geometry.batch * call.positions <= kFewPositions;
}
template <class T>
bool is_pointwise(const ConvGradient<T>& call) {
  constexpr ConvGeometry::Sizes kOnes{1, 1, 1}, kZeros{0, 0, 0};
  const ConvGeometry& g = call.geometry;
  return g.groups == 1 && g.kernel == kOnes && g.stride == kOnes &&
         g.padding == kZeros;
}

/// Several taps over a line or a plane, in one group.
bool is_plane(const ConvGeometry& g) {
  return g.groups == 1 && g.in[0] == 1 && g.kernel[0] == 1 &&
         g.padding[0] == 0 && volume(g.kernel) > 1;
}
bool has_block_channels(const ConvGeometry& g) {
  return g.in_channels >= kBlockChannels && g.out_channels >= kBlockChannels;
}

template <class T>
constexpr Way<ConvGradient<T>> kDepthwiseData{
    "depthwise",
    "a convolution of dy with the kernels turned",
    "one input and one output channel a group, padding that kernels reach",
    &turns_depthwise<T>,
    "",
    nullptr,
    &depthwise_data<T>};
template <class T>
constexpr Way<ConvGradient<T>> kFewData{
    "few_positions",
    "one product with the weight as it lies, added to the image's places",
    "one group",
    &is_one_group<T>,
    "64 output positions of all images, or fewer",
    &has_few_positions<T>,
    &few_positions_data<T>};
template <class T>
constexpr Way<ConvGradient<T>> kPointwiseData{
    "pointwise",
    "the weight, turned, times each image of dy",
    "one group, one tap, a stride of 1, no padding",
    &is_pointwise<T>,
    "",
    nullptr,
    &pointwise_data<T>};
constexpr Way<ConvGradient<float>> kBlockedData{
    "blocked",
    "a convolution of dy in blocks of channels",
    "float32; one group; several taps over a line or a plane, strides of 1, "
    "padding that kernels reach",
    [](const ConvGradient<float>& call) {
      const ConvGeometry& g = call.geometry;
      return is_plane(g) && g.stride[1] == 1 && g.stride[2] == 1 &&
             padding_is_reached(g);
    },
    "8 input and output channels, 128 positions of all images",
    [](const ConvGradient<float>& call) {
      return has_block_channels(call.geometry) &&
             call.geometry.batch * call.positions >= kBlockPositions / 4;
    },
    [](const ConvGradient<float>& call) {
      cpu::blocked_data_gradient(call.geometry, call.dy, call.other, call.bias,
                                 call.out);
    }};
template <class T>
constexpr Way<ConvGradient<T>> kPatchesData{
    "patches",
    "products whose rows are added to where the patches came from",
    "",
    nullptr,
    "",
    nullptr,
    &patches_data<T>};

template <class T>
constexpr Way<ConvGradient<T>> kFewWeight{
    "few_positions",
    "one product of dy and patches, both turned",
    "one group",
    &is_one_group<T>,
    "several images, 64 output positions of all of them or fewer",
    [](const ConvGradient<T>& call) {
      return call.geometry.batch > 1 && has_few_positions(call);
    },
    &few_positions_weight<T>};
template <class T>
constexpr Way<ConvGradient<T>> kPointwiseWeight{
    "pointwise",
    "dy times the image, turned, of each",
    "one group, one tap, a stride of 1, no padding",
    &is_pointwise<T>,
    "",
    nullptr,
    &pointwise_weight<T>};
constexpr Way<ConvGradient<float>> kBlockedWeight{
    "blocked",
    "products of pictures in blocks of channels",
    "float32; one group; several taps over a line or a plane",
    [](const ConvGradient<float>& call) { return is_plane(call.geometry); },
    "8 input and output channels, 512 positions of all images",
    [](const ConvGradient<float>& call) {
      return has_block_channels(call.geometry) &&
             call.geometry.batch * call.positions >= kBlockPositions;
    },
    [](const ConvGradient<float>& call) {
      cpu::blocked_weight_gradient(call.geometry, call.dy, call.other,
                                   call.out);
    }};
template <class T>
constexpr Way<ConvGradient<T>> kPatchesWeight{
    "patches",
    "products of dy with the matrix of patches, turned",
    "",
    nullptr,
    "",
    nullptr,
    &patches_weight<T>};

constexpr std::string_view kUnrolledName = "unrolled",
                           kUnrolledWhat =
                               "products with windows that are unrolled, a "
                               "tile at a time",
                           kUnrolledNeeds =
                               "windows that do not end where the outputs do, "
                               "or operands without elements",
                           kWidenedName = "widened",
                           kWidenedWhat =
                               "by way of floats, rounded once at the end",
                           kPlanesName = "amx_planes",
                           kPlanesNeeds =
                               "AMX; one or two dimensions; windows that end "
                               "where the outputs do";

template <class T>
constexpr Way<ConvGradient<T>> kUnrolledData{
    kUnrolledName,
    kUnrolledWhat,
    kUnrolledNeeds,
    &overhangs<T>,
    "",
    nullptr,
    [](const ConvGradient<T>& call) {
      cpu::unrolled_data(*call.windows, call.out, call.dy, call.other,
                         call.bias);
    }};
template <class T>
constexpr Way<ConvGradient<T>> kUnrolledWeight{
    kUnrolledName,
    kUnrolledWhat,
    kUnrolledNeeds,
    &overhangs<T>,
    "",
    nullptr,
    [](const ConvGradient<T>& call) {
      cpu::unrolled_weight(*call.windows, call.out, call.dy, call.other);
    }};

template <class T>
void widened_data(const ConvGradient<T>& call) {
  const cpu::Geometry& g = *call.windows;
  const Tensor dy = cpu::widened(call.dy, g.n * g.o * g.out_size()),
               weight = cpu::widened(call.other, g.o * g.depth()),
               bias = cpu::widened(call.bias, g.c);
  cpu::through_floats(call.out, g.n * g.c * g.in_size(), [&](float* to) {
    data_gradient<float>({.geometry = call.geometry,
                          .dy = dy.data<float>(),
                          .other = weight.data<float>(),
                          .bias = call.bias ? bias.data<float>() : nullptr,
                          .out = to,
                          .fits = call.fits,
                          .windows = call.windows});
  });
}
template <class T>
void widened_weight(const ConvGradient<T>& call) {
  const cpu::Geometry& g = *call.windows;
  const Tensor dy = cpu::widened(call.dy, g.n * g.o * g.out_size()),
               x = cpu::widened(call.other, g.n * g.c * g.in_size());
  cpu::through_floats(call.out, g.o * g.depth(), [&](float* to) {
    weight_gradient<float>({.geometry = call.geometry,
                            .dy = dy.data<float>(),
                            .other = x.data<float>(),
                            .out = to,
                            .fits = call.fits,
                            .windows = call.windows});
  });
}
template <class T>
constexpr Way<ConvGradient<T>> kWidenedData{
    kWidenedName, kWidenedWhat, "", nullptr, "", nullptr, &widened_data<T>};
template <class T>
constexpr Way<ConvGradient<T>> kWidenedWeight{
    kWidenedName, kWidenedWhat, "", nullptr, "", nullptr, &widened_weight<T>};

constexpr Way<ConvGradient<BFloat16>> kPlanesData{
    kPlanesName,
    "planes of two channels a word, multiplied by AMX",
    kPlanesNeeds,
    [](const ConvGradient<BFloat16>& call) {
      return call.fits && serves_planes(call.geometry);
    },
    "8 output channels of a group, 16 positions of all images, 262,144 "
    "multiply-adds",
    [](const ConvGradient<BFloat16>& call) {
      const ConvGeometry& g = call.geometry;
      return fills_tiles(g, g.outputs_per_group(), g.channels_per_group());
    },
    [](const ConvGradient<BFloat16>& call) {
      cpu::PlaneConv::data(call.geometry)
          .run(call.dy, call.other, call.bias, call.out);
    }};
constexpr Way<ConvGradient<BFloat16>> kPlanesWeight{
    kPlanesName,
    "planes of the input times dy, multiplied by AMX",
    kPlanesNeeds,
    [](const ConvGradient<BFloat16>& call) {
      return call.fits && serves_planes(call.geometry);
    },
    "8 weights of an output channel, 8 of these in a group, 32 positions of "
    "all images, 262,144 multiply-adds",
    [](const ConvGradient<BFloat16>& call) {
      const ConvGeometry& g = call.geometry;
      const int64_t positions = g.batch * call.positions;
      return g.patch_size() >= kTileRows &&
             g.outputs_per_group() >= kTileRows &&
             positions >= kTilePositions &&
             positions * g.patch_size() * g.outputs_per_group() >= kTileWork;
    },
    [](const ConvGradient<BFloat16>& call) {
      cpu::PlaneWeights(call.geometry).run(call.dy, call.other, call.out);
    }};

/// Ways of every dtype; integers and complex numbers have one.
template <class T>
constexpr auto kDataWays = std::to_array({kUnrolledData<T>});
template <>
constexpr auto kDataWays<float> =
    std::to_array({kUnrolledData<float>, kDepthwiseData<float>, kFewData<float>,
                   kPointwiseData<float>, kBlockedData, kPatchesData<float>});
template <>
constexpr auto kDataWays<double> = std::to_array(
    {kUnrolledData<double>, kDepthwiseData<double>, kFewData<double>,
     kPointwiseData<double>, kPatchesData<double>});
template <>
constexpr auto kDataWays<Half> = std::to_array({kWidenedData<Half>});
template <>
constexpr auto kDataWays<BFloat16> = std::to_array({kPlanesData,
                                                    kWidenedData<BFloat16>});

template <class T>
constexpr auto kWeightWays = std::to_array({kUnrolledWeight<T>});
template <>
constexpr auto kWeightWays<float> = std::to_array(
    {kUnrolledWeight<float>, kFewWeight<float>, kPointwiseWeight<float>,
     kBlockedWeight, kPatchesWeight<float>});
template <>
constexpr auto kWeightWays<double> = std::to_array({kUnrolledWeight<double>,
                                                    kFewWeight<double>,
                                                    kPointwiseWeight<double>,
                                                    kPatchesWeight<double>});
template <>
constexpr auto kWeightWays<Half> = std::to_array({kWidenedWeight<Half>});
template <>
constexpr auto kWeightWays<BFloat16> =
    std::to_array({kPlanesWeight, kWidenedWeight<BFloat16>});

}  // namespace

template <class T>
void data_gradient(const ConvGradient<T>& call) {
  run_first<kDataWays<T>>(call);
}
template <class T>
void weight_gradient(const ConvGradient<T>& call) {
  run_first<kWeightWays<T>>(call);
}
template <class T>
[[gnu::cold]] WayAnswers explain_data_gradient(const ConvGradient<T>& call) {
  return explain<kDataWays<T>>(call);
}
template <class T>
[[gnu::cold]] WayAnswers explain_weight_gradient(const ConvGradient<T>& call) {
  return explain<kWeightWays<T>>(call);
}

#define HOTARU_INSTANTIATE(...) \
  template void data_gradient(const ConvGradient<__VA_ARGS__>&); \
  template void weight_gradient(const ConvGradient<__VA_ARGS__>&);
HOTARU_FOR_NUMBER_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

// Instances for the types of visit_ways().
#define HOTARU_EXPLAIN(...) \
  template WayAnswers explain_data_gradient(const ConvGradient<__VA_ARGS__>&); \
  template WayAnswers explain_weight_gradient(const ConvGradient<__VA_ARGS__>&);
HOTARU_FOR_WAY_TYPES(HOTARU_EXPLAIN)
#undef HOTARU_EXPLAIN

}  // namespace hotaru
