// NVIDIA's libraries beside the driver, opened when a kernel first asks for
// one. None is linked and none is needed: without them our own kernels run.
//
// HOTARU_CUDA_LIBRARIES in the environment: `none`, `soft` (stand-ins beside
// the GPU in software, for tests; `soft:nvrtc` of that one only), or
// directories, separated by colons, that are looked into first. Then come the
// folders of PyPI's wheels beside hotaru and in add_library_root(), then the
// loader's own path. The GPU in software takes none of them unasked.
#pragma once

#include <atomic>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/runtime/accelerator.h"

namespace hotaru::cuda {

/// Another folder with `nvidia/<package>/lib` below it: Python's packages.
/// Counts for what is opened afterwards. Thread-safe.
void add_library_root(std::string folder);

/// A dynamic library and what kept it from being one.
struct OpenedLibrary {
  void* handle = nullptr;
  std::string path;
  std::string why_not;

  /// A symbol's address; where there is none, it is one more reason why the
  /// library does not serve.
  template <class F>
  void find(F& entry, const char* symbol) {
    entry = reinterpret_cast<F>(address_of(symbol));
  }
  void* address_of(const char* symbol);
};

/// The first of `files` (newest first) that can be opened; it stays open.
OpenedLibrary open_library(std::initializer_list<const char*> files);

/// Folders with that header of CUDA's: of an installed toolkit, of packages.
std::vector<std::string> header_folders(const char* header);

/// Says that own kernels run in a library's place: on a GPU, not where somebody
/// chose so.
void warn_without(const char* name, const OpenedLibrary& library);

/// A library's table of functions, whether or not it serves; opened at the
/// first call. L has kName, `library`, which it opens when it is made, and
/// version_text(), asked for only if it serves.
template <class L>
const L& opened() {
  static const L* const once = new L;
  return *once;
}
/// The same; null, with one warning, if it does not serve. Nothing is locked
/// during the warning: who hears it may wait for Python's interpreter.
template <class L>
const L* usable() {
  const L& found = opened<L>();
  if (found.library.why_not.empty()) [[likely]]
    return &found;
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) warn_without(L::kName, found.library);
  return nullptr;
}
template <class L>
DeviceLibrary report_of() {
  const L& found = opened<L>();
  const OpenedLibrary& l = found.library;
  return {L::kName, l.why_not.empty() ? found.version_text() : "", l.path,
          l.why_not};
}

/// Throws Error that names library and call, unless the status is 0.
void check_library(const char* library, int status, const char* call);

/// The text of a version that is counted major * unit + minor * 100 + patch.
std::string version_text_of(int64_t number, int64_t unit);

/// The library of that name, or, without one, every library that hotaru knows;
/// opened to find out.
std::vector<DeviceLibrary> library_reports(std::string_view name = {});

}  // namespace hotaru::cuda
