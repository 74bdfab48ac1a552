// Checks of what is relied on afterwards, and how a function fails. The classes
// of errors are in core/error.h, which only those include who catch one, throw
// one by hand or derive another.
#pragma once

#include <string>

#include "hotaru/core/printing/concat.h"

namespace hotaru {

class Error;
class IndexError;
class TypeError;
class ValueError;
class NotImplementedError;
class AssertionError;

/// Throws an E with this text. The library has it for the classes above;
/// core/error.h says how it is done for any other.
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void throw_error(
    const std::string& what);

template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(Parts... parts) {
  std::string out;
  (text::append_part<Parts>(out, parts), ...);
  throw_error<E>(out);
}

/// Throws E with the concatenation of its arguments as message.
template <class E = Error, class... Args>
[[noreturn, gnu::always_inline]] inline void fail(const Args&... args) {
  fail_with<E, text::Part<Args>...>(args...);
}

}  // namespace hotaru

/// Throws hotaru::Error with the message unless the condition holds.
#define HOTARU_CHECK(condition, ...) \
  do { \
    if (!(condition)) [[unlikely]] \
      ::hotaru::fail(__VA_ARGS__); \
  } while (false)

/// The same with an exception class of hotaru's choice, e.g. IndexError.
#define HOTARU_CHECK_AS(E, condition, ...) \
  do { \
    if (!(condition)) [[unlikely]] \
      ::hotaru::fail<::hotaru::E>(__VA_ARGS__); \
  } while (false)
