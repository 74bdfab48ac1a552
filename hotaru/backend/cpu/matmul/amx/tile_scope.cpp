#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"

#include "hotaru/backend/cpu/matmul/amx/tile_units.h"

namespace hotaru::amx {
namespace {

struct Kept {
  int scopes = 0;
  uint32_t key = 0;  // 0: none
};
thread_local constinit Kept kept;

}  // namespace

TileScope::TileScope(bool active) : active_(active) {
  if (active_) ++kept.scopes;
}

TileScope::~TileScope() {
  if (!active_ || --kept.scopes > 0) return;
#if defined(__x86_64__)
  if (kept.key) HardwareTiles::release_now();
#endif
  kept.key = 0;
}

bool keeps_sizes(uint32_t key) {
  if (kept.scopes == 0) return false;
  if (kept.key == key) return true;
  kept.key = key;
  return false;
}

bool in_tile_scope() {
  return kept.scopes > 0;
}

}  // namespace hotaru::amx
