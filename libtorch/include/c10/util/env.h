// Variables of the environment. Not thread-safe beside setenv of others.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace c10::utils {

inline void set_env(const char* name, const char* value,
                    bool overwrite = true) {
  ::setenv(name, value, overwrite);  // NOLINT(concurrency-mt-unsafe)
}
inline std::optional<std::string> get_env(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (!value) return std::nullopt;
  return value;
}
inline bool has_env(const char* name) {
  return get_env(name).has_value();
}
/// "1" is true, "0" false; nothing for other values and none.
inline std::optional<bool> check_env(const char* name) {
  const auto value = get_env(name);
  if (value == "1") return true;
  if (value == "0") return false;
  return std::nullopt;
}

}  // namespace c10::utils
