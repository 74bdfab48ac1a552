// How long the processor's tiles keep their sizes.
#pragma once

#include <cstdint>

namespace hotaru::amx {

/// While one lives, this thread's tiles keep their sizes from call to call, as
/// to set them takes the time of ten products; behind the last one they are
/// released. Meanwhile the thread runs nothing of others that has tiles.
class TileScope {
 public:
  /// `active`: false, where none are used; then it does nothing.
  explicit TileScope(bool active);
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  bool active_;
};

/// Tells whether the tiles have the sizes of that key, one for each TileConfig,
/// from a call before; else they are about to get them.
bool keeps_sizes(uint32_t key);
/// Tells whether they keep them beyond a call.
bool in_tile_scope();

}  // namespace hotaru::amx
