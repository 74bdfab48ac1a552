#include "hotaru/runtime/warning.h"

#include <utility>

namespace hotaru {
namespace {

std::function<void(std::string_view)>& warning_handler() {
  static std::function<void(std::string_view)> handler;
  return handler;
}

}  // namespace

void set_warning_handler(std::function<void(std::string_view)> handler) {
  warning_handler() = std::move(handler);
}

void warn(std::string_view message) {
  if (warning_handler()) warning_handler()(message);
}

}  // namespace hotaru
