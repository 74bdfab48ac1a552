// Products of bytes by AMX: the kernel beside that of vectors
// (matmul/quads/quad_kernels.h), on the same packed operands.
#pragma once

#include "hotaru/backend/cpu/matmul/quads/quad_kernels.h"

namespace hotaru::amx {

/// Rows and columns of one call at most: two tiles each.
inline constexpr int kMaxSide = 32;

/// "tile" of QuadKernels for up to kMaxSide rows and columns; panels are
/// kMaxSide words wide. A is read along the depth.
using QuadTile = decltype(QuadKernels::tile);

/// By the processor's tiles: whoever calls it has asked simd_has_tiles(); null
/// where the compiler's target has none. And by emulated ones.
QuadTile hardware_quads();
QuadTile emulated_quads();

/// The one to use; null where there is none.
QuadTile quad_tile();

}  // namespace hotaru::amx
