#include "hotaru/backend/cuda/cupti/cupti_buffers.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

namespace hotaru::cuda {
namespace {

// CUPTI's guide wants them between 1 and 10 MB: larger ones are rarely asked
// for, smaller ones cleared at once.
constexpr size_t kBytes = size_t{2} << 20;
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ % cupti::kAlignment == 0);

struct Buffers {
  std::mutex mutex;
  size_t most = 0;
  std::unordered_set<uint8_t*> lent;  // to CUPTI
  std::vector<ActivityBuffer> full;
};
Buffers& buffers() {
  static auto* const once = new Buffers;  // CUPTI's thread may outlive statics
  return *once;
}

/// In mebibytes.
size_t memory_wanted() {
  constexpr size_t kUnasked = 128;
  const char* const text = std::getenv("HOTARU_CUPTI_BUFFER_MB");
  char* end = nullptr;
  const size_t asked = text ? std::strtoull(text, &end, 10) : 0;
  return text && end != text ? asked : kUnasked;
}

}  // namespace

void limit_activity_buffers() {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  all.most = (memory_wanted() << 20) / kBytes;
}

void request_activity_buffer(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = nullptr;
  *size = 0;
  *most = 0;  // records: as many as there is room for
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  if (all.lent.size() + all.full.size() >= all.most) return;
  *buffer = new (std::nothrow) uint8_t[kBytes];
  if (!*buffer) return;
  *size = kBytes;
  all.lent.insert(*buffer);
}

void complete_activity_buffer(CUcontext /*context*/, uint32_t /*stream*/,
                              uint8_t* buffer, size_t /*size*/, size_t used) {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  if (all.lent.erase(buffer) == 0) return;
  ActivityBuffer full{std::unique_ptr<uint8_t[]>(buffer), used};
  if (used != 0) all.full.push_back(std::move(full));
}

std::vector<ActivityBuffer> take_activity_buffers() {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.full, {});
}

}  // namespace hotaru::cuda
