#include "hotaru/backend/cpu/conv/ways.h"

#include <complex>

#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/conv/amx/plane_conv.h"
#include "hotaru/backend/cpu/conv/conv_pairs.h"
#include "hotaru/backend/cpu/conv/unrolled.h"
#include "hotaru/backend/cpu/matmul/amx/gemm_tiles.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/pair_kernels.h"
#include "hotaru/backend/cpu/wide.h"

namespace hotaru {
namespace {

// Output positions below which lanes hold channels instead of positions, and
// those of each image of several that are multiplied at once.
constexpr int64_t kFewPositions = 16;
// Output positions and channels of a group from which pairs pay.
constexpr int64_t kPairPositions = 16, kPairOutputs = 16;
// Channels, positions and multiply-adds below which AMX's tiles have too little
// to do.
constexpr int64_t kTileChannels = 8, kTilePositions = 16, kTileWork = 1 << 18;

/// A plane under 3 x 3 taps that follow each other.
template <class T>
bool is_three_by_three(const ConvCall<T>& call) {
  const ConvGeometry& g = call.geometry;
  return g.in[0] == 1 && g.kernel == ConvGeometry::Sizes{1, 3, 3} &&
         g.padding[0] == 0 && g.dilation[1] == 1 && g.stride[1] <= 2 &&
         call.layout->is_padded() && call.layout->step() == 1;
}

template <class T>
bool is_depthwise(const ConvCall<T>& call) {
  return call.in_channels == 1 && call.geometry.groups > 1;
}

template <class T>
bool serves_depthwise3(const ConvCall<T>& call) {
  return is_depthwise(call) && is_three_by_three(call) && !call.tail.residual &&
         (call.activation == Activation::kNone ||
          call.activation == Activation::kRelu);
}

template <class T>
bool has_few_positions(const ConvCall<T>& call) {
  const ConvGeometry& g = call.geometry;
  return call.positions < kFewPositions ||
         (g.batch > 1 && g.groups == 1 && !call.packed && !call.tail.residual &&
          call.positions < 2 * kFewPositions);
}

template <class T>
bool is_its_own_patches(const ConvCall<T>& call) {
  const ConvGeometry& g = call.geometry;
  return call.patch == call.in_channels && g.in == g.out() &&
         !call.layout->is_padded();
}

/// Tells whether panels of patches would consist of pieces of vectors, since
/// rows of outputs are short, and the gaps between them are few. Of two
/// dimensions it is not worth the copy of the outputs.
template <class T>
bool is_worth_spreading(const ConvCall<T>& call) {
  const int64_t width = gemm_kernels<T>().max_cols;  // two vectors
  const auto out = call.geometry.out();
  const int64_t plane = call.layout->spread_plane();
  return plane >= width && out[2] < 2 * width && out[2] % (width / 2) != 0 &&
         5 * call.positions >= 4 * plane * out[0];
}

template <class T>
constexpr auto kFloatWays = std::to_array<Way<ConvCall<T>>>({
    {"depthwise3", "each channel by 3 x 3 taps, a plane's rows at a time",
     "one input channel a group; planes with padding, 3 x 3 taps without "
     "dilation, a stride of 1 along rows and to 2 along columns; behind it a "
     "rectifier at most",
     &serves_depthwise3<T>, "", nullptr, &forward_depthwise3<T>},
    {"depthwise", "each channel's taps added up, without a product",
     "one input channel a group", &is_depthwise<T>, "", nullptr,
     &forward_depthwise<T>},
    {"channels", "patches times the weight: lanes hold output channels", "",
     nullptr,
     "fewer than 16 output positions, or than 32 of each of several images in "
     "one group",
     &has_few_positions<T>, &forward_channels<T>},
    {"in_place", "the weight times the input, which is its own patches",
     "one tap, a stride of 1, no padding", &is_its_own_patches<T>, "", nullptr,
     &forward_in_place<T>},
    {"spread", "the weight times patches read where they lie, gaps included",
     "several taps in depth, strides of 1 along rows and columns",
     [](const ConvCall<T>& call) {
       return call.geometry.kernel[0] > 1 && call.layout->can_spread();
     },
     "output rows shorter than four vectors that end within one, few gaps",
     &is_worth_spreading<T>, &forward_spread<T>},
    {"patches", "the weight times patches gathered into the product's panels",
     "", nullptr, "", nullptr, &forward_patches<T>},
});

template <class T>
bool serves_pairs(const ConvCall<T>& call) {
  const bool may_round = call.rounds || std::is_same_v<T, BFloat16>;
  // The processor is asked last.
  return may_round && call.fits && call.in_channels > 1 && has_pair_products();
}
template <class T>
bool pays_to_pair(const ConvCall<T>& call) {
  return call.out_channels >= kPairOutputs && call.positions >= kPairPositions;
}
template <class T>
void run_pairs(const ConvCall<T>& call) {
  conv_forward_pairs(call.geometry, call.x, call.weight, call.bias, call.y);
}
template <class T>
constexpr Way<ConvCall<T>> kPairs{
    "pairs",
    "products of two channels of bfloat16 at a time",
    "instructions for products of pairs; bfloat16, or floats that may be "
    "rounded; several input channels a group; windows that end where the "
    "outputs do",
    &serves_pairs<T>,
    "16 output channels of a group and 16 positions",
    &pays_to_pair<T>,
    &run_pairs<T>};

template <class T>
void run_unrolled(const ConvCall<T>& call) {
  cpu::unrolled_forward(*call.windows, call.y, call.x, call.weight, call.bias);
}
template <class T>
constexpr Way<ConvCall<T>> kUnrolled{
    "unrolled",
    "products with windows that are unrolled, a tile at a time",
    "windows that do not end where the outputs do, or no input",
    [](const ConvCall<T>& call) { return !call.fits; },
    "",
    nullptr,
    &run_unrolled<T>};

/// Sixteen-bit numbers as floats, rounded once in the end.
template <class T>
void run_widened(const ConvCall<T>& call) {
  const cpu::Geometry& g = *call.windows;
  const Tensor x = cpu::widened(call.x, g.n * g.c * g.in_size()),
               weight = cpu::widened(call.weight, g.o * g.depth()),
               bias = cpu::widened(call.bias, g.o);
  cpu::through_floats(call.y, g.n * g.o * g.out_size(), [&](float* to) {
    convolve<float>({.geometry = call.geometry,
                     .x = x.data<float>(),
                     .weight = weight.data<float>(),
                     .bias = call.bias ? bias.data<float>() : nullptr,
                     .y = to,
                     .fits = call.fits,
                     .windows = call.windows});
  });
}
template <class T>
constexpr Way<ConvCall<T>> kWidened{"widened",
                                    "by way of floats, rounded once at the end",
                                    "",
                                    nullptr,
                                    "",
                                    nullptr,
                                    &run_widened<T>};

constexpr Way<ConvCall<BFloat16>> kPlanes{
    "amx_planes",
    "planes of two channels a word, multiplied by AMX",
    "AMX; one or two dimensions; windows that end where the outputs do",
    [](const ConvCall<BFloat16>& call) {
      return call.fits && serves_planes(call.geometry);
    },
    "8 input channels of a group, 16 positions of all images, 262,144 "
    "multiply-adds",
    [](const ConvCall<BFloat16>& call) {
      return fills_tiles(call.geometry, call.in_channels, call.out_channels);
    },
    [](const ConvCall<BFloat16>& call) {
      cpu::PlaneConv::forward(call.geometry)
          .run(call.x, call.weight, call.bias, call.y);
    }};

/// Ways of every dtype; integers and complex numbers have one.
template <class T>
constexpr auto kWays = std::to_array<Way<ConvCall<T>>>({kUnrolled<T>});
template <>
constexpr auto kWays<float> =
    joined(std::to_array({kPairs<float>, kUnrolled<float>}), kFloatWays<float>);
template <>
constexpr auto kWays<double> = joined(std::to_array({kUnrolled<double>}),
                                      kFloatWays<double>);
template <>
constexpr auto kWays<Half> = std::to_array({kWidened<Half>});
template <>
constexpr auto kWays<BFloat16> = std::to_array({kPlanes, kPairs<BFloat16>,
                                                kWidened<BFloat16>});

}  // namespace

bool serves_planes(const ConvGeometry& g) {
  return amx::has_products() && g.in[0] == 1 && g.kernel[0] == 1 &&
         g.padding[0] == 0;
}

bool fills_tiles(const ConvGeometry& g, int64_t channels, int64_t outputs) {
  const int64_t positions = g.batch * g.out_positions();
  return channels >= kTileChannels && positions >= kTilePositions &&
         positions * channels * outputs * volume(g.kernel) >= kTileWork;
}

template <class T>
void convolve(const ConvCall<T>& call) {
  run_first<kWays<T>>(call);
}
template <class T>
[[gnu::cold]] WayAnswers explain_convolution(const ConvCall<T>& call) {
  return explain<kWays<T>>(call);
}

template <class T>
void convolve_floats(const ConvCall<T>& call) {
  run_first<kFloatWays<T>>(call);
}
template <class T>
WayAnswers explain_floats(const ConvCall<T>& call) {
  return explain<kFloatWays<T>>(call);
}

#define HOTARU_INSTANTIATE(...) \
  template void convolve(const ConvCall<__VA_ARGS__>&);
HOTARU_FOR_NUMBER_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE
template void convolve_floats(const ConvCall<float>&);
template void convolve_floats(const ConvCall<double>&);
template WayAnswers explain_floats(const ConvCall<float>&);
template WayAnswers explain_floats(const ConvCall<double>&);

// Instances for the types of visit_ways().
#define HOTARU_EXPLAIN(...) \
  template WayAnswers explain_convolution(const ConvCall<__VA_ARGS__>&);
HOTARU_FOR_WAY_TYPES(HOTARU_EXPLAIN)
#undef HOTARU_EXPLAIN

}  // namespace hotaru
