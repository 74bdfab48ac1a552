// Exceptions of the library: what a user sees when an argument, a file or a
// device is wrong. Python maps each class to the exception of the same name.
#pragma once

#include <stdexcept>

#include "hotaru/core/printing/concat.h"

namespace hotaru {

/// Base of every error thrown by hotaru; Python's RuntimeError.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// The message; names that C++ programs written for libtorch use, where
  /// what() adds a backtrace.
  std::string msg() const { return what(); }
  const char* what_without_backtrace() const noexcept { return what(); }
};

/// A dimension or element index is outside its range; Python's IndexError.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// An argument has the wrong type; Python's TypeError.
class TypeError : public Error {
 public:
  using Error::Error;
};

/// An argument has the right type and a wrong value; Python's ValueError.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// The operator exists, but not for this dtype or device; Python's
/// NotImplementedError.
class NotImplementedError : public Error {
 public:
  using Error::Error;
};

/// A precondition of the installation does not hold, e.g. no CUDA back end;
/// Python's AssertionError, as PyTorch raises there.
class AssertionError : public Error {
 public:
  using Error::Error;
};

template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void throw_error(
    const std::string& what) {
  throw E(what);
}

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
