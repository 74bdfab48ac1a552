// Warnings, the library's own and those of TorchScript programs.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>

namespace hotaru {

/// Who hears warnings; nobody unless set. Called from the thread that warns;
/// what it throws leaves the call that warned.
void set_warning_handler(std::function<void(std::string_view)> handler);
/// To this thread's listener, if it has one, else to the handler.
void warn(std::string_view message);
/// To the handler, whoever listens.
void hand_warning(std::string_view message);

/// A warning that a process gives once, or each time where the program asked
/// for that (torch.set_warn_always).
class OnceWarning {
 public:
  constexpr explicit OnceWarning(std::string_view text) : text_(text) {}
  void give();

 private:
  std::string_view text_;
  std::atomic<bool> given_{false};
};

/// Hears a thread's warnings in the handler's place.
class WarningListener {
 public:
  virtual ~WarningListener() = default;
  virtual void hear(std::string_view message) = 0;
};
/// Not owned; null for none.
WarningListener* warning_listener();
void set_warning_listener(WarningListener* listener);

}  // namespace hotaru
