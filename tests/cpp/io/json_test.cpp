// JSON of files: what is read, and what is refused with its offset.
#include "hotaru/io/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hotaru/core/error.h"

namespace hotaru::io {
namespace {

/// The error's text, or "" when the text is read.
std::string refused(std::string_view text, uint64_t base = 0) {
  try {
    parse_json(text, "a.json", base);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Json, ValuesOfEachKind) {
  const auto json = parse_json(
      R"({"a": [1, -2, 18446744073709551615, 2.5, true, null], "b": {"c": "\u00fcx"}})",
      "a.json");
  EXPECT_EQ(json["a"][0].get<int>(), 1);
  EXPECT_EQ(json["a"][1].get<int>(), -2);
  EXPECT_EQ(json["a"][2].get<uint64_t>(), ~uint64_t{0});
  EXPECT_EQ(json["a"][3].get<double>(), 2.5);
  EXPECT_TRUE(json["a"][4].get<bool>());
  EXPECT_TRUE(json["a"][5].is_null());
  EXPECT_EQ(json["b"]["c"].get<std::string>(), "\u00fcx");
  EXPECT_EQ(parse_json(" 7 ", "a.json").get<int>(), 7);
}

TEST(Json, WhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,}", "[1] 2", "nan", "'a'",
                           "{1: 2}", "\"\xff\"", "\"\\ud800\"", "1e999"}) {
    EXPECT_NE(refused(text).find("a.json: offset "), std::string::npos) << text;
  }
}

TEST(Json, NoUtf8) {
  EXPECT_EQ(refused("{\"long enough\": \"\xff\"}"),
            "a.json: offset 17: no JSON: no UTF-8");
}

TEST(Json, NothingHidesBehindAZero) {
  EXPECT_EQ(refused(std::string_view("{}\0x", 4)),
            "a.json: offset 2: no JSON: a zero byte");
}

TEST(Json, OffsetsCountFromTheFile) {
  EXPECT_NE(refused("[1, x]").find("a.json: offset 4: "), std::string::npos)
      << refused("[1, x]");
  EXPECT_NE(refused("[1, x]", 8).find("a.json: offset 12: "),
            std::string::npos);
}

TEST(Json, KeysStandOnce) {
  EXPECT_EQ(refused(R"({"a": {"a": 1}, "b": {"a": 2}})"), "");
  EXPECT_EQ(refused(R"({"a": 1, "b": 2, "a": 3})"),
            "a.json: offset 20: the key 'a' stands twice in one object");
}

TEST(Json, Depth) {
  EXPECT_EQ(refused(nested(200)), "");
  EXPECT_EQ(refused(nested(201)),
            "a.json: offset 200: JSON nests deeper than 200 levels");
  EXPECT_NE(refused(nested(1'000'000)), "");
}

// Empty containers take the most memory for a byte of text.
TEST(Json, Memory) {
  std::string text = "[{}";
  while (text.size() < (size_t{12} << 20)) text += ",{}";
  EXPECT_NE((refused(text + "]")).find("would take more than"),
            std::string::npos);
  EXPECT_EQ(refused("[" + std::string(size_t{12} << 20, ' ') + "]"), "");
}

}  // namespace
}  // namespace hotaru::io
