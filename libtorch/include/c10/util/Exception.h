// Errors and checks. The exceptions are hotaru's own, so that a handler for
// c10::Error sees whatever the library throws.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "c10/macros/Macros.h"
#include "c10/util/StringUtil.h"
#include "hotaru/core/error.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/runtime/warning.h"

namespace c10 {

using hotaru::Error;
using hotaru::IndexError;
using hotaru::LinAlgError;
using hotaru::NotImplementedError;
using hotaru::OutOfMemoryError;
using hotaru::TypeError;
using hotaru::ValueError;

struct SourceLocation {
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
};

/// One that somebody is told of.
class Warning {
 public:
  struct UserWarning {};
  struct DeprecationWarning {};
  using warning_variant_t = std::variant<UserWarning, DeprecationWarning>;

  Warning(warning_variant_t type, SourceLocation location, std::string msg,
          bool verbatim)
      : type_(type),
        location_(location),
        msg_(std::move(msg)),
        verbatim_(verbatim) {}
  warning_variant_t type() const { return type_; }
  /// Empty: warnings come from within the library.
  const SourceLocation& source_location() const { return location_; }
  const std::string& msg() const { return msg_; }
  bool verbatim() const { return verbatim_; }

 private:
  warning_variant_t type_;
  SourceLocation location_;
  std::string msg_;
  bool verbatim_;
};

/// Hears the warnings of threads that it is set for. This one hands them to
/// Python, if that is there; nothing is printed.
class WarningHandler : public hotaru::WarningListener {
 public:
  virtual void process(const Warning& warning);
  void hear(std::string_view message) final;
};

namespace WarningUtils {
/// This thread's, not owned; null stands for the plain one.
void set_warning_handler(WarningHandler* handler);
WarningHandler* get_warning_handler();
/// Sets whether warnings that are given once are given each time.
void set_warnAlways(bool setting);
bool get_warnAlways();

/// That, for a scope.
class WarnAlways {
 public:
  explicit WarnAlways(bool setting = true) : before_(get_warnAlways()) {
    set_warnAlways(setting);
  }
  ~WarnAlways() { set_warnAlways(before_); }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;

 private:
  bool before_;
};

/// For a scope.
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler)
      : before_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  ~WarningHandlerGuard() { set_warning_handler(before_); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* before_;
};
}  // namespace WarningUtils

/// To this thread's handler.
void warn(const Warning& warning);
void warn(const std::string& text);

namespace detail {

/// Throws E with the text, or where there is none with PyTorch's about the
/// condition.
template <class E, class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void check_failed(const char* condition,
                                                         const Args&... args) {
  if constexpr (sizeof...(Args) == 0)
    throw E(str("Expected ", condition,
                " to be true, but got false.  (Could this error message be "
                "improved?  If so, please report an enhancement request to "
                "PyTorch.)"));
  else
    throw E(str(args...));
}

/// The same for what can only be a bug.
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(
    const char* condition, const char* file, int line, const Args&... args) {
  throw Error(str(condition, " INTERNAL ASSERT FAILED at \"", file, "\":", line,
                  ", please report a bug to PyTorch. ", args...));
}

}  // namespace detail
}  // namespace c10

#define HOTARU_TORCH_CHECK_AS(E, condition, ...) \
  do { \
    if (C10_UNLIKELY(!(condition))) \
      ::c10::detail::check_failed<E>(#condition, ##__VA_ARGS__); \
  } while (false)

/// Throws c10::Error with the texts put together unless the condition holds.
#define TORCH_CHECK(condition, ...) \
  HOTARU_TORCH_CHECK_AS(::c10::Error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  HOTARU_TORCH_CHECK_AS(::c10::IndexError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  HOTARU_TORCH_CHECK_AS(::c10::ValueError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  HOTARU_TORCH_CHECK_AS(::c10::TypeError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) \
  HOTARU_TORCH_CHECK_AS(::c10::LinAlgError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  HOTARU_TORCH_CHECK_AS(::c10::NotImplementedError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_WITH(E, condition, ...) \
  HOTARU_TORCH_CHECK_AS(::c10::E, condition, ##__VA_ARGS__)

#define TORCH_INTERNAL_ASSERT(condition, ...) \
  do { \
    if (C10_UNLIKELY(!(condition))) \
      ::c10::detail::assertion_failed(#condition, __FILE__, __LINE__, \
                                      ##__VA_ARGS__); \
  } while (false)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif

#define TORCH_WARN(...) ::c10::warn(::c10::str(__VA_ARGS__))
/// Once for the place in the source, unless WarnAlways.
#define TORCH_WARN_ONCE(...) \
  do { \
    if (::c10::WarningUtils::get_warnAlways()) \
      TORCH_WARN(__VA_ARGS__); \
    else [[maybe_unused]] \
      static const bool warned = (TORCH_WARN(__VA_ARGS__), true); \
  } while (false)

/// PyTorch's older names.
#define AT_ERROR(...) \
  ::c10::detail::check_failed<::c10::Error>("", ::c10::str(__VA_ARGS__))
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_CHECK(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
