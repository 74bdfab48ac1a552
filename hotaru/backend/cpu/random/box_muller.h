// Box and Muller's transform in single precision with the polynomials and the
// fused operations of PyTorch's AVX2 build, so that seeded normal draws agree
// bit for bit. (The polynomials are those of the Cephes library, S. Moshier.)
#pragma once

namespace hotaru {

/// Replaces 16 uniform draws in [0, 1) by normal ones: with u1 = 1 - values[j]
/// and u2 = values[j + 8], values[j] = r cos(2 pi u2) std + mean and
/// values[j + 8] = r sin(2 pi u2) std + mean, where r = sqrt(-2 ln u1).
void box_muller_16(float* values, float mean, float std);

}  // namespace hotaru
