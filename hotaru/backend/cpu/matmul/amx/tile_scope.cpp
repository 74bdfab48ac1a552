#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"

#include "hotaru/backend/cpu/matmul/amx/tile_units.h"

namespace hotaru::amx {
namespace {

struct Kept {
  int scopes = 0;
  bool set = false;
  TileConfig config;
};
thread_local constinit Kept kept;

}  // namespace

TileScope::TileScope(bool active) : active_(active) {
  if (active_) ++kept.scopes;
}

TileScope::~TileScope() {
  if (!active_ || --kept.scopes > 0) return;
#if defined(__x86_64__)
  if (kept.set) HardwareTiles::release_now();
#endif
  kept.set = false;
}

bool keeps_sizes(const TileConfig& config) {
  if (kept.scopes == 0) return false;
  if (kept.set && std::memcmp(&kept.config, &config, sizeof config) == 0)
    return true;
  kept.config = config;
  kept.set = true;
  return false;
}

bool in_tile_scope() {
  return kept.scopes > 0;
}

}  // namespace hotaru::amx
