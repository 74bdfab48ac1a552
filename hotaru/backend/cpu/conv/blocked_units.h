// What convolutions by AMX do around their products (blocked_amx_tile.cpp).
#pragma once

#include "hotaru/backend/cpu/conv/blocked_conv.h"

namespace hotaru::cpu {

/// Words of bfloat16 pairs that a pixel has of a block, and of two.
inline constexpr int kUnit = int(kChannelBlock) / 2, kUnitPair = 2 * kUnit;

/// A column of the kernel of an input block, at the pixels of a tile.
struct Unit {
  const float* x;
  TileEdge edge;
  const float* w;

  bool has_first() const {
    return edge == TileEdge::kNone || edge == TileEdge::kLast;
  }
  bool has_last() const {
    return edge == TileEdge::kNone || edge == TileEdge::kFirst;
  }
};

/// Words of two units at `pixels` pixels, `step` words apart; where they lie
/// outside of the picture zeros. The second one may be null: zeros.
void put_together(const Unit& first, const Unit* second, int64_t step,
                  int pixels, float* to);

/// What becomes of a tile's sums [pixels, channels] of output block q.
void end_units(const BlockedTile& t, int q, const float* sums);

}  // namespace hotaru::cpu
