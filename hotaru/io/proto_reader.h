// One message of protobuf's wire format, field by field, without copies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define PROTOZERO_USE_VIEW std::string_view
#include <protozero/pbf_reader.hpp>

namespace hotaru::io {

/// Walks the fields of a message. Everything that it returns points into the
/// bytes it was made of. A field of another wire type than asked for throws
/// Error; broken bytes throw protozero::exception.
///
///     while (reader.next()) {
///       switch (reader.field()) {
///         case 1: name = reader.bytes(); break;
///         default: reader.skip();
///       }
///     }
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : reader_(message) {}

  bool next() { return reader_.next(); }
  uint32_t field() const { return reader_.tag(); }
  void skip() { reader_.skip(); }

  std::string_view bytes();
  std::string text() { return std::string(bytes()); }
  /// The rest of a message that is an entry of a map: key (1) and value (2).
  std::pair<std::string, std::string> text_entry();
  /// int32, int64, uint64 (its bits), enum and bool.
  int64_t integer();
  float number();

  /// Appends a repeated field's numbers, packed or not.
  void append(std::vector<int64_t>& to);
  void append(std::vector<float>& to);
  void append(std::vector<double>& to);

 private:
  template <class T, class Get>
  void append_fixed(std::vector<T>& to, protozero::pbf_wire_type type, Get get);
  void expect(protozero::pbf_wire_type type) const;

  protozero::pbf_reader reader_;
};

}  // namespace hotaru::io
