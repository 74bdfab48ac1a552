// Names of C++ types.
#pragma once

#include <string>
#include <typeinfo>

namespace c10 {

/// As in source: "float" for "f".
std::string demangle(const char* name);
template <class T>
std::string demangle_type() {
  return demangle(typeid(T).name());
}

}  // namespace c10
