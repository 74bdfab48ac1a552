// Weighted sums of elements at scattered places, with the widest vectors that
// this processor has.
#pragma once

#include <cstdint>

namespace hotaru::cpu {

/// How many sums one call makes.
inline constexpr int64_t kGatherRun = 64;

/// out[p] = sum over s < slots of weights[s][p] * from[offsets[s][p]], in the
/// order of s, for all p < kGatherRun; elements at offset -1 count as 0. Rows
/// of offsets and weights are kGatherRun apart.
void gather_sums(const float* from, const int32_t* offsets,
                 const float* weights, int64_t slots, float* out);

/// Offsets and weights of kGatherRun points of a picture, in four slots as
/// gather_sums() reads them: linear taps, nothing outside. grid: x and y of
/// each point. False if a point lies nowhere (NaN, infinity); then they say
/// nothing.
bool linear_taps(const float* grid, int64_t height, int64_t width,
                 bool align_corners, int32_t* offsets, float* weights);

/// The same of nearest elements, in one slot; every point has its place.
void nearest_taps(const float* grid, int64_t height, int64_t width,
                  bool align_corners, int32_t* offsets);

/// The same of pixels whose `channels` lie side by side: `count` points, of
/// which point p's sums go to out[p * channels] and on.
void pixel_sums(const float* from, int64_t channels, const int32_t* offsets,
                const float* weights, int64_t slots, int64_t count, float* out);

/// Computes one point's part in its gradient, of pixels whose `channels` lie
/// side by side: g, weighed, is added to the pixels `to` at `taps` offsets, and
/// dots are its products with those of `from`. Either of both may be null.
void pixel_gradients(int64_t channels, const int64_t* offsets,
                     const float* weights, int64_t taps, const float* g,
                     float* to, const float* from, float* dots);

}  // namespace hotaru::cpu
