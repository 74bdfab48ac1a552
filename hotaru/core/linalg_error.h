// The error of matrices that an operation does not fit.
#pragma once

#include "hotaru/core/error.h"

namespace hotaru {

/// A matrix has no inverse or factors; Python's linalg.LinAlgError.
class LinAlgError : public Error {
 public:
  using Error::Error;
};

}  // namespace hotaru
