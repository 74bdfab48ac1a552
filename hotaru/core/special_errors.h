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

}  // namespace hotaru
