// The error of a device whose memory is used up.
#pragma once

#include "hotaru/core/error.h"

namespace hotaru {

/// Python's torch.OutOfMemoryError, a RuntimeError.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

}  // namespace hotaru
