// Sizes of the tiles of Intel's AMX.
#pragma once

#include <cstdint>

namespace hotaru::amx {

inline constexpr int kTileRows = 16;
inline constexpr int kTileBytes = 64;
inline constexpr int kTileWords = kTileBytes / 4;

/// Operand of LDTILECFG: eight tiles, of palette 1.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes[16] = {};  // of a row of each tile
  uint8_t rows[16] = {};

  void set(int tile, int64_t row_count, int64_t words) {
    rows[tile] = uint8_t(row_count);
    bytes[tile] = uint16_t(4 * words);
  }
};
static_assert(sizeof(TileConfig) == 64);

}  // namespace hotaru::amx
