// Errors that only some operations and devices know.
#pragma once

#include "hotaru/core/error.h"

namespace hotaru {

/// A matrix has no inverse or factors; Python's linalg.LinAlgError.
class LinAlgError : public Error {
 public:
  using Error::Error;
};

/// A device's memory is used up; Python's torch.OutOfMemoryError, a
/// RuntimeError.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// A device or its driver failed; Python's torch.AcceleratorError, a
/// RuntimeError. Mostly the device is of no use to the process any more.
class AcceleratorError : public Error {
 public:
  AcceleratorError(const std::string& text, int code)
      : Error(text), code_(code) {}
  /// The driver's number; `error_code` in Python.
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace hotaru
