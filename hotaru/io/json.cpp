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
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/io/utf8.h"

namespace hotaru::io {

namespace {

using Json = nlohmann::json;
namespace rj = rapidjson;

constexpr size_t kMaxDepth = 200;
constexpr size_t kMemoryBase = size_t{64} << 20;
constexpr size_t kMemoryPerByte = 16;
// A node of an object's tree, beside key and value; the pieces of memory that
// a container or a long string takes.
constexpr size_t kNodeSize = 48;
constexpr size_t kPieceSize = 48;

/// Builds the value from the parser's events, within the limits. Its functions
/// with names of RapidJSON's are those events.
class Builder {
 public:
  Builder(std::string_view text, const std::string& where, uint64_t base)
      : text_(text), where_(where), base_(base) {}

  Json build() {
    // The parser takes a zero for the end of the text, and strings as they are.
    if (const size_t zero = text_.find('\0'); zero != text_.npos)
      fail(where_, ": offset ", base_ + zero, ": no JSON: a zero byte");
    if (const size_t valid = utf8_prefix(text_); valid != text_.size())
      fail(where_, ": offset ", base_ + valid, ": no JSON: no UTF-8");
    constexpr unsigned kFlags =
        rj::kParseIterativeFlag | rj::kParseFullPrecisionFlag;
    // The parser looks at 16 bytes at a time.
    std::string text(text_);
    text.append(16, '\0');
    rj::StringStream stream(text.c_str());
    rj::Reader reader;
    if (const auto result = reader.Parse<kFlags>(stream, *this); !result) {
      if (result.Code() == rj::kParseErrorTermination)
        fail(where_, ": offset ", base_ + result.Offset(), ": ", reason_);
      fail(where_, ": offset ", base_ + result.Offset(),
           ": no JSON: ", rj::GetParseError_En(result.Code()));
    }
    return std::move(root_);
  }

  bool Null() { return leaf(nullptr); }
  bool Bool(bool value) { return leaf(value); }
  bool Int(int value) { return leaf(value); }
  bool Uint(unsigned value) { return leaf(value); }
  bool Int64(int64_t value) { return leaf(value); }
  bool Uint64(uint64_t value) { return leaf(value); }
  bool Double(double value) { return leaf(value); }
  bool RawNumber(const char*, rj::SizeType, bool) { return false; }
  bool String(const char* value, rj::SizeType size, bool) {
    return charge(kPieceSize + size) && leaf(std::string(value, size));
  }

  bool StartObject() { return open(Json::object()); }
  bool StartArray() { return open(Json::array()); }
  bool EndObject(rj::SizeType) { return close(); }
  bool EndArray(rj::SizeType) { return close(); }

  bool Key(const char* name, rj::SizeType size, bool) {
    if (!charge(kNodeSize + sizeof(std::string) + size)) return false;
    auto& members = open_.back()->get_ref<Json::object_t&>();
    auto [place, added] = members.try_emplace(std::string(name, size));
    if (!added) {
      return refuse("the key '", std::string_view(place->first).substr(0, 80),
                    "' stands twice in one object");
    }
    member_ = &place->second;
    return true;
  }

 private:
  /// Ends the parsing, for build() to say why and where.
  template <class... Args>
  bool refuse(const Args&... args) {
    reason_ = concat(args...);
    return false;
  }

  bool charge(size_t bytes) {
    memory_ += bytes;
    const size_t limit = kMemoryBase + kMemoryPerByte * text_.size();
    return memory_ <= limit ||
           refuse("the values of this JSON would take more than ", limit,
                  " bytes");
  }

  /// Puts a value where the next one belongs; null if there is no room.
  Json* place(Json value) {
    if (!charge(2 * sizeof(Json))) return nullptr;  // vectors grow by doubling
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      auto& items = open_.back()->get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      return &items.back();
    }
    *member_ = std::move(value);
    return member_;
  }

  bool leaf(Json value) { return place(std::move(value)) != nullptr; }

  bool open(Json container) {
    if (open_.size() == kMaxDepth)
      return refuse("JSON nests deeper than ", kMaxDepth, " levels");
    if (!charge(kPieceSize)) return false;
    open_.push_back(place(std::move(container)));
    return open_.back() != nullptr;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  uint64_t base_;
  std::string reason_;
  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // of the innermost object, whose value comes next
  size_t memory_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where,
                uint64_t base) {
  return Builder(text, where, base).build();
}

}  // namespace hotaru::io
