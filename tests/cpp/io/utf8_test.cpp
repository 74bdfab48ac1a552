// Which texts are UTF-8, wherever in a word of memory their characters begin.
#include "hotaru/io/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace hotaru::io {
namespace {

TEST(Utf8, CharactersAtAnyPlace) {
  for (const std::string character :
       {"x", "\u00fc", "\u20ac", "\U0001f525", "\U0010ffff"}) {
    for (size_t before = 0; before < 18; ++before) {
      for (size_t after = 0; after < 18; ++after) {
        const std::string text = std::string(before, 'a') + character +
                                 std::string(after, 'b') + character;
        EXPECT_TRUE(is_utf8(text)) << text;
      }
    }
  }
}

TEST(Utf8, WhatIsNone) {
  for (const std::string bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3x", "\xe2\x82",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x94",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    for (size_t before = 0; before < 18; ++before) {
      const std::string text = std::string(before, 'a') + bad;
      EXPECT_EQ(utf8_prefix(text), before) << before;
      EXPECT_EQ(utf8_prefix(text + "bcdefghijklmno"), before) << before;
    }
  }
}

}  // namespace
}  // namespace hotaru::io
