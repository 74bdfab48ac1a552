// Bytes as error texts name them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hotaru {

/// Two digits: "0a".
inline std::string hex_text(uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace hotaru
