// Carrier of collectives of tensors on devices: this process's side of it.
#pragma once

#include <exception>
#include <mutex>
#include <string>

#include "hotaru/core/device.h"
#include "hotaru/core/ordered.h"

namespace hotaru {

/// Some ranks, a device each. It is an operand, read and written, of every
/// collective that goes by it, so that these keep their order on whatever
/// streams and in graphs. Thread-safe.
class Communicator : public Ordered {
 public:
  virtual Device device() const = 0;
  /// Faults that it found by itself meanwhile, in words; empty: none.
  virtual std::string complaint() = 0;
  /// Gives up what is under way: streams go on with whatever is there, and the
  /// host is told the error when it next waits for the device, as are all
  /// further collectives.
  void abort(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      if (error_) return;
      error_ = error;
    }
    give_up(error);
  }
  /// Error that it was aborted with, or null.
  std::exception_ptr error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  /// After its last collective has ended; all ranks do it.
  virtual void close() = 0;

 private:
  virtual void give_up(const std::exception_ptr& error) = 0;

  mutable std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace hotaru
