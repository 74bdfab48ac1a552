// Products by AMX: kernels beside those of vectors (matmul/pair_kernels.h,
// matmul/quads/quad_kernels.h), on the same packed operands.
#pragma once

#include <cstdint>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/quads/quad_kernels.h"

namespace hotaru::amx {

/// Rows and columns of one call at most: two tiles each.
inline constexpr int kMaxSide = 32;

using PairTile = decltype(GemmKernels<float>::tile);
using QuadTile = decltype(QuadKernels::tile);

/// "tile" of both tables for up to kMaxSide rows and columns; panels of quads
/// are kMaxSide words wide. A is read along the depth.
struct TileProducts {
  PairTile pairs;
  QuadTile quads;
};

/// By the processor's tiles: whoever calls them has asked simd_has_tiles(); and
/// by emulated ones. `pairs` and `quads` are null where the compiler's target
/// has none.
TileProducts hardware_products();
TileProducts emulated_products();

/// Those to use; null where there are none.
const TileProducts* tile_products();

}  // namespace hotaru::amx
