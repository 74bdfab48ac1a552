// The process itself.
#pragma once

#include <string>

namespace hotaru::platform {

/// The path of the program that runs; empty if it isn't known.
std::string executable_path();

}  // namespace hotaru::platform
