// How long the processor's tiles keep their sizes.
#pragma once

#include <cstring>

#include "hotaru/backend/cpu/matmul/amx/tile_config.h"

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

/// Whether the tiles already have these sizes; else they are about to.
bool keeps_sizes(const TileConfig& config);
/// Whether they keep them beyond a call.
bool in_tile_scope();

}  // namespace hotaru::amx
