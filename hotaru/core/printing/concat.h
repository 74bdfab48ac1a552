// Texts put together out of parts.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hotaru {

namespace text {

/// Append to `out` what operator<< would print.
void append(std::string& out, const char* value);
void append(std::string& out, std::string_view value);
void append(std::string& out, char value);
void append(std::string& out, int64_t value);
void append(std::string& out, uint64_t value);
void append(std::string& out, double value);

/// Appends a value that has an operator<< of its own.
template <class T>
[[gnu::noinline]] void append_printed(std::string& out, const T& value) {
  std::ostringstream stream;
  stream << value;
  out += std::move(stream).str();
}

/// How a part is passed on: few types, so that few functions are compiled.
template <class T>
constexpr auto part_type() {
  using Plain = std::decay_t<T>;
  constexpr bool kCharacter = std::is_same_v<Plain, char> ||
                              std::is_same_v<Plain, signed char> ||
                              std::is_same_v<Plain, unsigned char>;
  if constexpr (std::is_same_v<Plain, const char*> ||
                std::is_same_v<Plain, char*>)
    return std::type_identity<const char*>();
  else if constexpr (std::is_same_v<Plain, std::string_view>)
    return std::type_identity<std::string_view>();
  else if constexpr (kCharacter)
    return std::type_identity<char>();
  else if constexpr (std::is_same_v<Plain, float> ||
                     std::is_same_v<Plain, double>)
    return std::type_identity<double>();
  else if constexpr (std::is_same_v<Plain, bool> ||
                     (std::is_integral_v<Plain> && std::is_signed_v<Plain>))
    return std::type_identity<int64_t>();
  else if constexpr (std::is_integral_v<Plain>)
    return std::type_identity<uint64_t>();
  else
    return std::type_identity<const T&>();
}
template <class T>
using Part = typename decltype(part_type<T>())::type;

template <class P>
void append_part(std::string& out, P part) {
  if constexpr (!std::is_reference_v<P>)
    append(out, part);
  else if constexpr (std::is_same_v<std::decay_t<P>, std::string>)
    append(out, std::string_view(part));
  else
    append_printed(out, part);
}

template <class... Parts>
[[gnu::noinline]] std::string joined(Parts... parts) {
  std::string out;
  (append_part<Parts>(out, parts), ...);
  return out;
}

}  // namespace text

/// Concatenates its arguments as operator<< prints them.
template <class... Args>
std::string concat(const Args&... args) {
  return text::joined<text::Part<Args>...>(args...);
}

}  // namespace hotaru
