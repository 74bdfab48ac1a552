#include "hotaru/io/utf8.h"

#include <cstdint>
#include <cstring>

namespace hotaru::io {

size_t utf8_prefix(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (size_t i = 0; i < text.size();) {
    uint64_t eight = kHighBits;
    if (i + 8 <= text.size()) std::memcpy(&eight, text.data() + i, 8);
    if ((eight & kHighBits) == 0) {
      i += 8;
      continue;
    }
    const auto at = [&](size_t k) {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0;
    };
    const unsigned first = at(0);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4) return i;
    for (size_t k = 1; k <= more; ++k)
      if (at(k) >> 6 != 2) return i;
    const unsigned second = at(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return i;
    i += more + 1;
  }
  return text.size();
}

}  // namespace hotaru::io
