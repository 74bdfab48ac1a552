// Exceptions of the library: what a user sees when an argument, a file or a
// device is wrong. Python maps each class to the exception of the same name.
#pragma once

#include <stdexcept>
#include <string>

#include "hotaru/core/checks/check.h"

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

// See core/checks/check.h, which has all of it that those need who only fail.
template <class E>
void throw_error(const std::string& what) {
  throw E(what);
}
extern template void throw_error<Error>(const std::string&);
extern template void throw_error<IndexError>(const std::string&);
extern template void throw_error<TypeError>(const std::string&);
extern template void throw_error<ValueError>(const std::string&);
extern template void throw_error<NotImplementedError>(const std::string&);
extern template void throw_error<AssertionError>(const std::string&);

}  // namespace hotaru
