// How kernels say what they found wrong with elements: an index out of range.
// They leave such an element out, and the call goes on.
#pragma once

#include <cstdint>

namespace hotaru::cuda {

/// Host memory that a device writes: what the first call found that found
/// something, until the host took it.
struct ErrorReport {
  /// Number of the call that writes, and again when it has written the rest.
  unsigned long long claimed = 0;
  unsigned long long ready = 0;
  int64_t code = 0;
  int64_t numbers[3] = {};
};

/// Sink of errors for a kernel that may find something; without a report it
/// keeps them to itself.
struct ErrorSink {
  ErrorReport* report = nullptr;
  unsigned long long call = 0;
};

/// Require: that a byte is not 0.
struct RequireParams {
  const unsigned char* holds = nullptr;
  ErrorSink errors;
};

}  // namespace hotaru::cuda
