#include "hotaru/backend/cuda/libraries/library.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <utility>

#include "hotaru/backend/cuda/cupti/cupti.h"
#include "hotaru/backend/cuda/devices.h"
#include "hotaru/backend/cuda/libraries/cublaslt.h"
#include "hotaru/backend/cuda/libraries/cudnn_conv.h"
#include "hotaru/backend/cuda/libraries/cufft.h"
#include "hotaru/backend/cuda/libraries/cusolver.h"
#include "hotaru/backend/cuda/libraries/nccl.h"
#include "hotaru/backend/cuda/libraries/nvrtc.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/platform/shared_object.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSoftLibraries = "libhotaru_softgpu.so";

fs::path folder_of_this_library() {
  return fs::path(
             platform::library_of(reinterpret_cast<const void*>(&open_library)))
      .parent_path();
}

struct Roots {
  std::mutex mutex;
  std::vector<fs::path> folders;
};
Roots& roots() {
  static auto* const once = new Roots{{}, {folder_of_this_library() / ".."}};
  return *once;
}

std::string_view wanted() {
  const char* choice = std::getenv("HOTARU_CUDA_LIBRARIES");
  return choice ? choice : "";
}

/// Tells whether `soft` is wanted, or `soft:NAME` with a name that is in a
/// file's.
bool wants_stand_in(std::initializer_list<const char*> files) {
  if (!wanted().starts_with("soft")) return false;
  const std::string_view name = wanted().substr(4);
  if (name.empty()) return true;
  return name.starts_with(':') &&
         std::any_of(files.begin(), files.end(), [&](std::string_view file) {
           return file.find(name.substr(1)) != std::string_view::npos;
         });
}

/// nvidia/<package>/<name> below every root.
std::vector<fs::path> package_folders(const char* name) {
  const std::lock_guard lock(roots().mutex);
  std::vector<fs::path> out;
  for (const fs::path& root : roots().folders) {
    std::error_code error;
    for (const auto& package : fs::directory_iterator(root / "nvidia", error))
      out.push_back(package.path() / name);
  }
  return out;
}

/// Where files may lie, in order.
std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  std::string_view rest = wanted();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (fs::path& folder : package_folders("lib"))
    out.push_back(std::move(folder));
  return out;
}

bool try_open(OpenedLibrary& library, const std::string& path) {
  // Never closed, as its threads may be anywhere.
  library.handle = platform::open_library(path, &library.why_not);
  if (!library.handle) return false;
  library.path = path;
  library.why_not.clear();
  return true;
}

}  // namespace

void add_library_root(std::string folder) {
  const std::lock_guard lock(roots().mutex);
  roots().folders.emplace_back(std::move(folder));
}

void* OpenedLibrary::address_of(const char* symbol) {
  void* const address = handle ? platform::symbol_of(handle, symbol) : nullptr;
  if (handle && !address)
    why_not += (why_not.empty() ? path + " lacks " : ", ") + symbol;
  return address;
}

OpenedLibrary open_library(std::initializer_list<const char*> files) {
  OpenedLibrary library;
  if (wanted() == "none") {
    library.why_not = "HOTARU_CUDA_LIBRARIES is none";
  } else if (wants_stand_in(files)) {
    try_open(library, (folder_of_this_library() / kSoftLibraries).string());
  } else if (is_soft()) {
    library.why_not = "the GPU in software runs our own kernels";
  } else {
    const std::vector<fs::path> all = folders();
    for (const char* file : files) {
      for (const fs::path& folder : all) {
        std::error_code error;
        if (fs::exists(folder / file, error) &&
            try_open(library, (folder / file).string()))
          return library;
      }
      if (try_open(library, file)) return library;
    }
  }
  return library;
}

std::vector<std::string> header_folders(const char* header) {
  std::vector<fs::path> all;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home && *home)
      all.push_back(fs::path(home) / "include");
  for (fs::path& folder : package_folders("include"))
    all.push_back(std::move(folder));
  all.emplace_back("/usr/local/cuda/include");
  std::vector<std::string> out;
  for (const fs::path& folder : all) {
    std::error_code error;
    if (fs::exists(folder / header, error)) out.push_back(folder.string());
  }
  return out;
}

void warn_without(const char* name, const OpenedLibrary& library) {
  if (is_soft() || wanted() == "none") return;
  warn(concat(name, " is not used (", library.why_not,
              "): hotaru's own CUDA kernels run in its place. Its folder can "
              "be named by HOTARU_CUDA_LIBRARIES; 'none' there chooses the own "
              "kernels without this warning."));
}

void check_library(const char* library, int status, const char* call) {
  HOTARU_CHECK(status == 0, library, ": ", call, " failed, status ", status);
}

std::string version_text_of(int64_t number, int64_t unit) {
  return concat(number / unit, ".", number % unit / 100, ".", number % 100);
}

std::vector<DeviceLibrary> library_reports(std::string_view name) {
  constexpr std::pair<std::string_view, DeviceLibrary (*)()> kKnown[] = {
      {"cuBLASLt", &cublaslt_report}, {"cuDNN", &cudnn_report},
      {"cuSOLVER", &cusolver_report}, {"cuFFT", &cufft_report},
      {"CUPTI", &cupti_report},       {"NVRTC", &nvrtc_report},
      {"NCCL", &nccl_report}};
  std::vector<DeviceLibrary> out;
  for (const auto& [known, report] : kKnown)
    if (name.empty() || name == known) out.push_back(report());
  return out;
}

}  // namespace hotaru::cuda
