// Warnings, the library's own and those of TorchScript programs.
#pragma once

#include <functional>
#include <string_view>

namespace hotaru {

/// Who hears warnings; nobody unless set. Called from the thread that warns;
/// what it throws leaves the call that warned.
void set_warning_handler(std::function<void(std::string_view)> handler);
void warn(std::string_view message);

}  // namespace hotaru
