// Messages of a running program: errors, output.
#include <cstdio>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru::script {

namespace {

std::function<void(std::string_view)>& print_handler() {
  static std::function<void(std::string_view)> handler;
  return handler;
}

}  // namespace

ExecutionError::ExecutionError(const std::string& traceback,
                               std::string class_name, std::string message)
    : Error(concat(
          "The following operation failed in the TorchScript interpreter.\n"
          "Traceback of TorchScript, serialized code (most recent call "
          "last):\n",
          traceback, class_name.empty() ? "RuntimeError" : class_name, ": ",
          message)),
      class_name_(std::move(class_name)),
      message_(std::move(message)) {}

void set_print_handler(std::function<void(std::string_view)> handler) {
  print_handler() = std::move(handler);
}

void print_text(std::string_view text) {
  if (print_handler())
    print_handler()(text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace hotaru::script
