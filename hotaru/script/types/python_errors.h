// Python's own errors, which compiled programs raise and compiling them meets.
#pragma once

#include "hotaru/core/checks/check.h"

namespace hotaru::script {

inline constexpr const char* kListIndex = "list index out of range";
inline constexpr const char* kSliceStep =
    "List slice should have non-zero step";
inline constexpr const char* kFewArguments =
    "Too few arguments for format string: ";

/// Throws of a number, or of what it is called, that no integer is.
template <class E = Error, class T>
[[noreturn]] inline void fail_to_integer(const T& value) {
  fail<E>("cannot convert float ", value, " to integer");
}

}  // namespace hotaru::script
