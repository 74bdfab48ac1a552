// The process's one environment of ONNX Runtime with its one pool of threads,
// which all sessions share.
#pragma once

#include "hotaru/core/mutex.h"
#include "hotaru/provider/ort/library.h"

namespace hotaru::provider::ort {

/// A hold on the environment; while there is one, the pool keeps its size.
/// Thread-safe.
class Environment {
 public:
  /// A pool of so many threads, the caller included; 0: of those that it has,
  /// or 1. Throws ValueError where sessions use a pool of another size, and
  /// Error in a child of fork() whose parent had threads in it.
  explicit Environment(int threads);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  OrtEnv* get() const { return env_; }
  /// Throws Error in such a child.
  void check_process() const {
    if (forks_ != fork_count()) [[unlikely]]
      refuse_child();
  }

 private:
  void refuse_child() const;

  OrtEnv* env_;
  int threads_;
  uint32_t forks_;
};

}  // namespace hotaru::provider::ort
