#include "hotaru/runtime/warning.h"

#include <utility>

#include "hotaru/runtime/determinism.h"

namespace hotaru {
namespace {

std::function<void(std::string_view)>& warning_handler() {
  static std::function<void(std::string_view)> handler;
  return handler;
}

thread_local WarningListener* listener = nullptr;

}  // namespace

WarningListener* warning_listener() {
  return listener;
}
void set_warning_listener(WarningListener* l) {
  listener = l;
}

void set_warning_handler(std::function<void(std::string_view)> handler) {
  warning_handler() = std::move(handler);
}

void warn(std::string_view message) {
  if (listener)
    listener->hear(message);
  else
    hand_warning(message);
}
void hand_warning(std::string_view message) {
  if (warning_handler()) warning_handler()(message);
}

void OnceWarning::give() {
  if (!given_.exchange(true, std::memory_order_relaxed) || warns_always())
    warn(text_);
}

}  // namespace hotaru
