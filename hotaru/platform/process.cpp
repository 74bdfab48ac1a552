#include "hotaru/platform/process.h"

#include <filesystem>

namespace hotaru::platform {

std::string executable_path() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).string();
}

}  // namespace hotaru::platform
