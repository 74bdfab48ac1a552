// How this library was built.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hotaru {

/// "GCC 12.2", "Clang 16.0", ...
std::string compiler_name();

/// Name and value of each setting, as PyTorch's __config__.show() lists them:
/// BUILD_TYPE, CXX_COMPILER, CXX_FLAGS, HOTARU_VERSION, THREADING, USE_CUDA ...
std::vector<std::pair<std::string, std::string>> build_settings();

}  // namespace hotaru
