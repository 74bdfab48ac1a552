#include "hotaru/backend/cuda/libraries/cupti_buffers.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace hotaru::cuda {
namespace {

// CUPTI's guide wants them between 1 and 10 MB: larger ones are rarely asked
// for, smaller ones cleared at once.
constexpr size_t kBytes = size_t{2} << 20;
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ % cupti::kAlignment == 0);

struct Buffers {
  std::mutex mutex;
  /// CUPTI's and ours, full ones too.
  size_t count = 0;
  std::vector<ActivityBuffer> full;
};
Buffers& buffers() {
  static auto* const once = new Buffers;  // CUPTI's thread may outlive statics
  return *once;
}

}  // namespace

size_t activity_memory() {
  constexpr size_t kUnasked = 128;
  const char* const text = std::getenv("HOTARU_CUPTI_BUFFER_MB");
  char* end = nullptr;
  const size_t asked = text ? std::strtoull(text, &end, 10) : 0;
  return text && end != text ? asked : kUnasked;
}

void request_activity_buffer(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = nullptr;
  *size = 0;
  *most = 0;  // records: as many as there is room for
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  if ((all.count + 1) * kBytes > activity_memory() << 20) return;
  *buffer = new (std::nothrow) uint8_t[kBytes];
  if (!*buffer) return;
  *size = kBytes;
  ++all.count;
}

void complete_activity_buffer(CUcontext /*context*/, uint32_t /*stream*/,
                              uint8_t* buffer, size_t /*size*/, size_t used) {
  ActivityBuffer full{std::unique_ptr<uint8_t[]>(buffer), used};
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  if (used == 0)
    --all.count;
  else
    all.full.push_back(std::move(full));
}

std::vector<ActivityBuffer> take_activity_buffers() {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  all.count -= all.full.size();
  return std::exchange(all.full, {});
}

}  // namespace hotaru::cuda
