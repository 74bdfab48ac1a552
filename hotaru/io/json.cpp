#include "hotaru/io/json.h"

#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
// Its stack compares a null pointer plus a size before it first grows, which
// the sanitizer of clang stops at.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), \
                             apply_to = function)
#endif
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <locale>
#include <optional>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/utf8.h"

namespace hotaru::io {

namespace {

namespace rj = rapidjson;

constexpr size_t kMaxDepth = 200;
constexpr size_t kMemoryBase = size_t{64} << 20;
constexpr size_t kMemoryPerByte = 16;
// On the parser's stack, which grows by half, and then among the values; so do
// names, which also stand in a list of their own.
constexpr size_t kValueSize = 5 * sizeof(Json) / 2;
constexpr size_t kNameSize = kValueSize + 2 * sizeof(std::string_view);
// The parser looks at so many bytes at a time.
constexpr size_t kPadding = 16;

/// Passes the parser's events on to the document, within the limits. Its
/// functions with names of RapidJSON's are those events.
class Builder {
 public:
  Builder(std::string& text, const std::string& where, uint64_t base)
      : text_(text), size_(text.size()), where_(where), base_(base) {}

  void build(rj::Document& document) {
    // The parser takes a zero for the end of the text, and strings as they are.
    if (const size_t zero = text_.find('\0'); zero != text_.npos)
      refuse(zero, "no JSON: a zero byte");
    if (const size_t valid = utf8_prefix(text_); valid != size_)
      refuse(valid, "no JSON: no UTF-8");
    text_.append(kPadding, '\0');
    out_ = &document;
    document.Populate(*this);
  }

  bool operator()(rj::Document&) {
    // Its own conversion to the nearest double is undefined for 0e25.
    constexpr unsigned kFlags =
        rj::kParseInsituFlag | rj::kParseNumbersAsStringsFlag;
    rj::InsituStringStream stream(text_.data());
    rj::Reader reader;
    const auto result = reader.Parse<kFlags>(stream, *this);
    if (!result) {
      if (result.Code() == rj::kParseErrorTermination)
        refuse(result.Offset(), reason_);
      refuse(result.Offset(), "no JSON: ", rj::GetParseError_En(result.Code()));
    }
    return true;
  }

  bool Null() { return charge(kValueSize) && out_->Null(); }
  bool Bool(bool value) { return charge(kValueSize) && out_->Bool(value); }
  bool RawNumber(const char* text, rj::SizeType size, bool) {
    return charge(kValueSize) && number({text, size});
  }
  // Numbers come as their texts.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char* value, rj::SizeType size, bool) {
    return charge(kValueSize) && out_->String(value, size, false);
  }
  bool Key(const char* name, rj::SizeType size, bool) {
    names_.emplace_back(name, size);
    return charge(kNameSize) && out_->Key(name, size, false);
  }

  bool StartObject() { return open() && out_->StartObject(); }
  bool StartArray() { return open() && out_->StartArray(); }
  bool EndObject(rj::SizeType count) {
    check_names(count);
    --depth_;
    return out_->EndObject(count);
  }
  bool EndArray(rj::SizeType count) {
    --depth_;
    return out_->EndArray(count);
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(size_t offset, const Args&... args) const {
    fail(where_, ": offset ", base_ + offset, ": ", args...);
  }

  bool charge(size_t bytes) {
    memory_ += bytes;
    const size_t limit = kMemoryBase + kMemoryPerByte * size_;
    if (memory_ <= limit) return true;
    reason_ = concat("the values of this JSON would take more than ", limit,
                     " bytes");
    return false;  // ends the parsing, which knows the offset
  }

  bool open() {
    if (depth_++ == kMaxDepth) {
      reason_ = concat("JSON nests deeper than ", kMaxDepth, " levels");
      return false;
    }
    return charge(kValueSize);
  }

  /// An integer if it is written as one and 64 bits hold it, else a double.
  bool number(std::string_view text) {
    const char *begin = text.data(), *end = begin + text.size();
    const auto read = [&](auto value) -> std::optional<decltype(value)> {
      const auto [stop, error] = std::from_chars(begin, end, value);
      if (stop != end || error != std::errc()) return std::nullopt;
      return value;
    };
    if (const auto value = read(uint64_t{})) return out_->Uint64(*value);
    if (const auto value = read(int64_t{})) return out_->Int64(*value);
    if (const auto value = read(double{})) return out_->Double(*value);
    return extreme_number(text);
  }

  /// One that is too small for a double, which is 0, or too large for one.
  bool extreme_number(std::string_view text) {
    std::istringstream in{std::string(text)};
    in.imbue(std::locale::classic());
    double value = 0;
    if (in >> value) return out_->Double(value);
    reason_ = "no JSON: a number beyond what a double holds";
    return false;
  }

  /// That the names of the object that ends, the last ones, are different.
  void check_names(size_t count) {
    constexpr size_t kFew = 12;
    const std::span names = std::span(names_).last(count);
    if (count <= kFew) {
      for (size_t i = 1; i < count; ++i)
        for (size_t k = 0; k < i; ++k)
          if (names[k] == names[i]) refuse_name(names[i]);
    } else {  // equal ones by place, which their order in memory is
      std::sort(names.begin(), names.end(), [](auto a, auto b) {
        const int order = a.compare(b);
        return order != 0 ? order < 0 : a.data() < b.data();
      });
      const auto twice = std::adjacent_find(names.begin(), names.end());
      if (twice != names.end()) refuse_name(twice[1]);
    }
    names_.resize(names_.size() - count);
  }

  [[noreturn]] void refuse_name(std::string_view name) const {
    refuse(size_t(name.data() - text_.data()) - 1, "the key '",
           name.substr(0, 80), "' stands twice in one object");
  }

  std::string& text_;
  size_t size_;
  const std::string& where_;
  uint64_t base_;
  std::string reason_;
  rj::Document* out_ = nullptr;
  std::vector<std::string_view> names_;  // of all open objects
  size_t depth_ = 0;
  size_t memory_ = 0;
};

}  // namespace

JsonDocument::JsonDocument(std::string text, const std::string& where,
                           uint64_t base)
    : text_(std::move(text)), document_(std::make_unique<rj::Document>()) {
  Builder(text_, where, base).build(*document_);
}

JsonDocument::~JsonDocument() = default;

const Json& JsonDocument::root() const {
  return *document_;
}

std::string_view text_of(const Json& string) {
  return {string.GetString(), string.GetStringLength()};
}

const Json* find_member(const Json& object, std::string_view name) {
  if (!object.IsObject()) return nullptr;
  for (const auto& member : object.GetObject())
    if (text_of(member.name) == name) return &member.value;
  return nullptr;
}

std::string_view type_name(const Json& value) {
  switch (value.GetType()) {
    case rj::kNullType:
      return "null";
    case rj::kFalseType:
    case rj::kTrueType:
      return "boolean";
    case rj::kObjectType:
      return "object";
    case rj::kArrayType:
      return "array";
    case rj::kStringType:
      return "string";
    case rj::kNumberType:
      return "number";
  }
  return "";
}

void append_quoted(std::string& out, std::string_view text,
                   std::string_view what) {
  HOTARU_CHECK_AS(ValueError, utf8_prefix(text) == text.size(), what,
                  " is no UTF-8");
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (const size_t at = kShort.find(c); at != kShort.npos) {
      out += {'\\', kLetters[at]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += {'\\',
              'u',
              '0',
              '0',
              kDigits[size_t(c) >> 4],
              kDigits[size_t(c) & 15]};
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace hotaru::io
