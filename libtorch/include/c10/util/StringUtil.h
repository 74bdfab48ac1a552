// Texts put together out of parts.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace c10 {

using std::string_view;

/// Text that operator<< prints of the arguments, one after the other.
template <class... Args>
std::string str(const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return {};
  } else {
    std::ostringstream out;
    (out << ... << args);
    return std::move(out).str();
  }
}

/// The elements with a delimiter between each two.
template <class Container>
std::string Join(const std::string& delimiter, const Container& items) {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out << delimiter;
    out << item;
    first = false;
  }
  return std::move(out).str();
}

}  // namespace c10
