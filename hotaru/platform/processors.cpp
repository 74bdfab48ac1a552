#include "hotaru/platform/processors.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cstddef>

namespace hotaru::platform {

// CPU_SETSIZE is a number of bits in glibc and of bytes in musl.
static_assert(sizeof(cpu_set_t) == sizeof(ProcessorSet) &&
              8 * sizeof(cpu_set_t) == ProcessorSet::kMost);

int ProcessorSet::count() const {
  int out = 0;
  for (const unsigned long word : words_) out += std::popcount(word);
  return out;
}

bool allowed_processors(ProcessorSet& out) {
  return sched_getaffinity(0, sizeof(cpu_set_t),
                           static_cast<cpu_set_t*>(out.data())) == 0;
}

bool restrict_thread(int thread, const ProcessorSet& processors) {
  return sched_setaffinity(thread, sizeof(cpu_set_t),
                           static_cast<const cpu_set_t*>(processors.data())) ==
         0;
}

int current_processor() {
  const int processor = sched_getcpu();
  return processor < ProcessorSet::kMost ? processor : -1;
}

/// Linux gives the state's memory to processes that ask (its documentation,
/// arch/x86/xstate).
bool request_tile_state() {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace hotaru::platform
