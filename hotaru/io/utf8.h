// UTF-8 out of files.
#pragma once

#include <cstddef>
#include <string_view>

namespace hotaru::io {

/// Bytes of the text that are UTF-8 without overlong forms and surrogates (RFC
/// 3629): all of them, or as many as lie before the first that is none.
size_t utf8_prefix(std::string_view text);

inline bool is_utf8(std::string_view text) {
  return utf8_prefix(text) == text.size();
}

}  // namespace hotaru::io
