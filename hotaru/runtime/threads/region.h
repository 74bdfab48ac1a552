// One parallel loop that is under way: what every back end runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::detail {

/// Lives on the caller's stack until all chunks have finished.
struct Region {
  void (*fn)(void* context, int64_t chunk);
  void* context;
  int processor = -1;  // the caller's when it began, for the native back end
  std::atomic<bool> failed{false};
  std::exception_ptr error{};

  /// Runs one chunk; the first exception of all chunks is kept. Thread-safe
  /// for different chunks.
  void run_chunk(int64_t chunk) noexcept {
    PositionGuard guard({int(chunk), true});
    try {
      fn(context, chunk);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }

  /// Caller, after all chunks.
  void rethrow() const {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace hotaru::detail
