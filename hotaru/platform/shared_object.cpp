#include "hotaru/platform/shared_object.h"

#include <dlfcn.h>

namespace hotaru::platform {

std::string library_of(const void* function) {
  Dl_info info{};
  dladdr(function, &info);
  return info.dli_fname ? info.dli_fname : "";
}

void* open_library(const std::string& path, std::string* why_not) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && why_not) {
    const char* reason = dlerror();
    *why_not = reason ? reason : path;
  }
  return library;
}

void* symbol_of(void* library, const char* name) {
  return dlsym(library ? library : RTLD_DEFAULT, name);
}

}  // namespace hotaru::platform
