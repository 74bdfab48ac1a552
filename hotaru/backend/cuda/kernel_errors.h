// Errors that kernels find in elements, such as an index out of range: raised
// when the host next waits for their stream, with the call they came from.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cuda {

/// Text that a launcher has for a call that may fail.
struct FailureText {
  /// Throws what the CPU's kernel would, of the code and numbers that the
  /// kernel reported.
  void (*raise)(const FailureText& text, int64_t code, const int64_t* numbers);
  /// The launcher's: a dimension or a size, a name that lives for ever.
  int64_t dim = 0;
  const char* op = "";
  std::shared_ptr<const std::string> message = nullptr;
};

/// The errors of one stream's kernels, or of a graph's. Thread-safe.
class KernelErrors {
 public:
  explicit KernelErrors(int device);

  /// Forgets all calls. A graph's are all remembered from then on; of a
  /// stream's the last ones.
  void begin(bool of_graph);
  /// For a call that is about to be launched, or that becomes part of a graph.
  ErrorSink watch(const KernelCall& call, const FailureText& text);
  /// Sink that watch() gave.
  ErrorSink sink(unsigned long long call) const {
    return {device_report_, call};
  }
  /// Throws what kernels that have ended reported, once. Of several that failed
  /// since the last check the first one counts.
  void check() {
    if (__atomic_load_n(&report_->ready, __ATOMIC_ACQUIRE) != 0 ||
        given_up_.load(std::memory_order_relaxed)) [[unlikely]]
      raise();
  }
  /// Something else went wrong: the next check() throws it.
  void fail(const std::exception_ptr& error);

 private:
  /// Remains of a call once it was launched.
  struct Call {
    unsigned long long number = 0;
    const Kernel* kernel = nullptr;
    FailureText text;
    /// Shapes of its tensors, each with the number of sizes before them.
    std::vector<int64_t> shapes;
  };
  /// Calls that may be under way at once and still have their shapes told.
  static constexpr size_t kRemembered = 256;

  void raise();
  Call& place_of(unsigned long long number) {
    return recent_[size_t(number % recent_.size())];
  }

  ErrorReport* report_;                // where the host sees it
  ErrorReport* device_report_;         // where the device does
  std::atomic<bool> given_up_{false};  // whether there is a failure_
  std::mutex mutex_;                   // guards the rest
  bool of_graph_ = false;
  unsigned long long calls_ = 0;
  std::exception_ptr failure_;
  std::vector<Call> recent_{kRemembered};
};

/// A stream's, from its first call that may fail until the stream goes.
KernelErrors& take_errors(int device);
void give_errors_back(int device, KernelErrors& errors) noexcept;
/// A graph's, for itself and the streams that it was launched on.
std::shared_ptr<KernelErrors> make_graph_errors(int device);
/// Throws what kernels of any stream of the device reported.
void check_errors(int device);

/// watch() of the stream whose call runs in this thread.
ErrorSink watch_errors(const KernelCall& call, const FailureText& text);

}  // namespace hotaru::cuda
