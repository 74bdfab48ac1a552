// Exception that the loader throws for an error of a worker.
#pragma once

#include <exception>
#include <string>

namespace torch::data {

struct WorkerException : std::exception {
  explicit WorkerException(std::exception_ptr original)
      : original_exception(std::move(original)),
        message("Caught exception in DataLoader worker thread.") {
    try {
      std::rethrow_exception(original_exception);
    } catch (std::exception& error) {
      message += " Original message: ";
      message += error.what();
    }
  }
  const char* what() const noexcept override { return message.c_str(); }

  std::exception_ptr original_exception;
  std::string message;
};

}  // namespace torch::data
