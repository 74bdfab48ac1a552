// Which threads run the chunks of parallel loops: hotaru's own pool, or those
// of OpenMP or oneTBB for programs that already use one of them. Everything
// else (how ranges are cut, thread numbers, exceptions) is the same with all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hotaru {

/// Functions that a back end has to give. Those other than "native" are small
/// shared objects beside the library, libhotaru_<name>.so, loaded when chosen,
/// so that neither libgomp nor libtbb need exist where nobody asks for them.
struct ParallelBackend {
  const char* name;   // in HOTARU_THREADING
  const char* label;  // in parallel_info(), as PyTorch calls it
  /// Calls body(context, true) in the calling thread and body(context, false)
  /// in at most `helpers` others (>= 1), all at once if it can; returns when
  /// all calls have. body does not throw and may be entered without work left.
  void (*fork_join)(int helpers, void (*body)(void* context, bool caller),
                    void* context);
  /// Lines for parallel_info(): version and own count of threads.
  std::string (*describe)();
};

/// Name of the back end that new loops use: that of HOTARU_THREADING, else the
/// build's default. Throws Error if the name is unknown, not part of this build
/// or cannot be loaded; so does the first parallel loop. After fork() a child
/// whose parent had used OpenMP or TBB, neither of which survives that, has
/// "native". Thread-safe.
const char* parallel_backend();

/// Chooses one for the loops that begin from now on; throws as above.
void set_parallel_backend(std::string_view name);

/// Names of all back ends of this build, "native" first.
std::vector<std::string> parallel_backends();

namespace detail {

/// The chosen one; native has no fork_join and no describe.
const ParallelBackend& current_backend();

}  // namespace detail
}  // namespace hotaru
