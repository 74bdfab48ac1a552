// JSON of files: what is read, and what is refused with its offset.
#include "hotaru/io/json.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "hotaru/core/error.h"

namespace hotaru::io {
namespace {

/// The error's text, or "" when the text is read.
std::string refused(std::string_view text, uint64_t base = 0) {
  try {
    JsonDocument(std::string(text), "a.json", base);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Json, ValuesOfEachKind) {
  const JsonDocument document(
      R"({"a": [1, -2, 18446744073709551615, 2.5, true, null, ""],
          "b": {"c": "\u00fcx\n", "d": "as long as needs be, \"quoted\""}})",
      "a.json");
  const Json& a = *find_member(document.root(), "a");
  EXPECT_EQ(a[0].GetInt64(), 1);
  EXPECT_EQ(a[1].GetInt64(), -2);
  EXPECT_EQ(a[2].GetUint64(), ~uint64_t{0});
  EXPECT_EQ(a[3].GetDouble(), 2.5);
  EXPECT_TRUE(a[4].GetBool());
  EXPECT_TRUE(a[5].IsNull());
  EXPECT_EQ(text_of(a[6]), "");
  const Json& b = *find_member(document.root(), "b");
  EXPECT_EQ(text_of(*find_member(b, "c")), "\u00fcx\n");
  EXPECT_EQ(text_of(*find_member(b, "d")), "as long as needs be, \"quoted\"");
  EXPECT_EQ(find_member(b, "a"), nullptr);
  EXPECT_EQ(find_member(a, "a"), nullptr);
  EXPECT_EQ(JsonDocument(" 7 ", "a.json").root().GetInt(), 7);
}

TEST(Json, Numbers) {
  const std::string tiny = "0." + std::string(400, '0') + "1";
  const JsonDocument document(
      "[0E39, -0e-5, 5e-324, 1e-400, -1e-5000, " + tiny +
          ", 0.1, 1.7976931348623157e308, 9007199254740993.0, "
          "-9223372036854775808, 18446744073709551616, -9223372036854775809, "
          "-0, 1e2]",
      "a.json");
  const Json& root = document.root();
  const double doubles[] = {
      0, 0, 5e-324, 0, 0, 0, 0.1, 0x1.fffffffffffffp1023, 9007199254740992.0};
  for (unsigned i = 0; i < std::size(doubles); ++i) {
    ASSERT_TRUE(root[i].IsDouble()) << i;
    EXPECT_EQ(root[i].GetDouble(), doubles[i]) << i;
  }
  EXPECT_EQ(root[9].GetInt64(), INT64_MIN);
  EXPECT_EQ(root[10].GetDouble(), 0x1p64);
  EXPECT_EQ(root[11].GetDouble(), -0x1p63);
  EXPECT_EQ(root[12].GetInt64(), 0);
  EXPECT_EQ(root[13].GetDouble(), 100.0);
  EXPECT_NE(refused("[1e309]"), "");
  EXPECT_EQ(refused("[0.9e309]"),
            "a.json: offset 1: no JSON: a number beyond what a double holds");
  EXPECT_NE(refused("[1" + std::string(400, '0') + "]"), "");
}

TEST(Json, Types) {
  const JsonDocument json(R"([null, false, true, 1, 2.5, "", [], {}])", "a");
  std::string names;
  for (const Json& value : json.root().GetArray())
    names += concat(type_name(value), " ");
  EXPECT_EQ(names, "null boolean boolean number number string array object ");
}

TEST(Json, Quoted) {
  std::string out;
  append_quoted(out, std::string_view("a\"\\\n\x1f\0\u00fc", 8), "a text");
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\u001f\\u0000\u00fc\"");
  EXPECT_THROW(append_quoted(out, "\xff", "a text"), ValueError);
}

TEST(Json, WhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,}", "[1] 2", "nan", "'a'",
                           "{1: 2}", "\"\xff\"", "\"\\ud800\"", "1e999"})
    EXPECT_NE(refused(text).find("a.json: offset "), std::string::npos) << text;
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
            "a.json: offset 17: the key 'a' stands twice in one object");
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += concat("\"k", i, "\": {}, ");
  EXPECT_EQ(refused(many + "\"l\": 1}"), "");
  EXPECT_EQ(refused(many + "\"k7\": 1, \"k8\": 2}"),
            concat("a.json: offset ", many.size(),
                   ": the key 'k7' stands twice in one object"));
}

TEST(Json, Depth) {
  EXPECT_EQ(refused(nested(200)), "");
  EXPECT_EQ(refused(nested(201)),
            "a.json: offset 201: JSON nests deeper than 200 levels");
  EXPECT_NE(refused(nested(1'000'000)), "");
}

// Short numbers take the most memory for a byte of text.
TEST(Json, Memory) {
  std::string text = "[1";
  while (text.size() < (size_t{24} << 20)) text += ",1";
  EXPECT_NE((refused(text + "]")).find("would take more than"),
            std::string::npos);
  EXPECT_EQ(refused("[" + std::string(size_t{24} << 20, ' ') + "]"), "");
}

}  // namespace
}  // namespace hotaru::io
