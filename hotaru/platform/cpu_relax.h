// Pause of a loop that polls, between two looks.
#pragma once

namespace hotaru::platform {

/// Tells the processor that this thread polls: 10 to 50 ns.
inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace hotaru::platform
