// JSON out of files, whose text nobody vouches for.
#pragma once

#include <rapidjson/fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hotaru::io {

/// A value inside of a JsonDocument. Who looks into one includes
/// <rapidjson/document.h>.
using Json = rapidjson::Value;

/// A text of one JSON value, and that value. Immutable.
class JsonDocument {
 public:
  /// Reads the text, which the value must fill. `where` names file and record
  /// in errors, `base` is the offset in it at which the text begins. Throws
  /// Error with the offset for anything else, also for a key that stands twice
  /// in an object, nesting beyond 200 levels, and values that would take more
  /// than 64 MiB and 16 times the text.
  explicit JsonDocument(std::string text, const std::string& where,
                        uint64_t base = 0);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const Json& root() const;

 private:
  std::string text_;  // where the values' strings are
  std::unique_ptr<rapidjson::Document> document_;
};

/// Text that a string holds; the caller knows that it is one.
std::string_view text_of(const Json& string);
/// An object's value, or null if there is none; no object has none.
const Json* find_member(const Json& object, std::string_view name);
/// "null", "boolean", "number", "string", "array" or "object".
std::string_view type_name(const Json& value);
/// Appends the text as a JSON string. Throws ValueError naming `what` unless it
/// is UTF-8.
void append_quoted(std::string& out, std::string_view text,
                   std::string_view what);

}  // namespace hotaru::io
