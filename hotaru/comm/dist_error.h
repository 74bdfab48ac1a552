// Errors of programs that run as several processes.
#pragma once

#include "hotaru/core/error.h"

namespace hotaru::comm {

/// torch.distributed.DistError, a RuntimeError.
class DistError : public Error {
 public:
  using Error::Error;
};

/// Another process cannot be reached, or went away.
class DistNetworkError : public DistError {
 public:
  using DistError::DistError;
};

/// A store did not answer as it was asked to, or in time.
class DistStoreError : public DistError {
 public:
  using DistError::DistError;
};

/// A store's queue had nothing to take.
class QueueEmptyError : public DistStoreError {
 public:
  using DistStoreError::DistStoreError;
};

/// An operation of several processes failed: see its text for whose fault.
class DistBackendError : public DistError {
 public:
  using DistError::DistError;
};

}  // namespace hotaru::comm
