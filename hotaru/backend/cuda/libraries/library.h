// NVIDIA's libraries beside the driver, opened when a kernel first asks for
// one. None is linked and none is needed: without them our own kernels run.
//
// HOTARU_CUDA_LIBRARIES in the environment: `none`, `soft` (stand-ins beside
// the GPU in software, for tests), or directories, separated by colons, that
// are looked into first. Then come the folders of PyPI's wheels beside hotaru
// and in add_library_root(), then the loader's own path. The GPU in software
// takes none of them unasked.
#pragma once

#include <initializer_list>
#include <string>
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

/// Says once for each library that own kernels run in its place: on a GPU, not
/// where somebody chose so.
void warn_without(const char* name, const OpenedLibrary& library);

/// Every library that hotaru knows, opened to find out; version in its own
/// words.
std::vector<DeviceLibrary> library_reports();

}  // namespace hotaru::cuda
