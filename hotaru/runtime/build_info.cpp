#include "hotaru/runtime/build_info.h"

#include <algorithm>

#include "hotaru/runtime/threads/parallel_backend.h"

namespace hotaru {
namespace {

std::string version(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

std::string compiler_name() {
#if defined(__clang__)
  return "Clang " + version(__clang_major__, __clang_minor__);
#else
  return "GCC " + version(__GNUC__, __GNUC_MINOR__);
#endif
}

std::vector<std::pair<std::string, std::string>> build_settings() {
  const std::vector<std::string> backends = parallel_backends();
  auto built = [&](const char* name) {
    const bool found =
        std::find(backends.begin(), backends.end(), name) != backends.end();
    return std::string(found ? "ON" : "OFF");
  };
  return {{"BUILD_TYPE", HOTARU_BUILD_TYPE},
          {"CXX_COMPILER", HOTARU_CXX_COMPILER},
          {"CXX_FLAGS", HOTARU_CXX_FLAGS},
          {"HOTARU_VERSION", HOTARU_VERSION},
          {"THREADING", HOTARU_DEFAULT_THREADING},
          {"USE_CUDA", "0"},
          {"USE_MKL", "OFF"},
          {"USE_MKLDNN", "OFF"},
          {"USE_OPENMP", built("openmp")},
          {"USE_TBB", built("tbb")}};
}

}  // namespace hotaru
