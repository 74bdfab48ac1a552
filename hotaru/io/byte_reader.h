// Little-endian numbers out of a span, with bounds checks that cannot
// overflow.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/mapped_file.h"

namespace hotaru::io {

static_assert(std::endian::native == std::endian::little,
              "readers and writers assume a little-endian machine");

/// A position in a span of bytes. `what` and `base` name the file or record
/// and where the span begins in it, for errors.
class ByteReader {
 public:
  ByteReader(Bytes bytes, std::string_view what, uint64_t base = 0)
      : bytes_(bytes), what_(what), base_(base) {}

  uint64_t position() const { return pos_; }
  /// Position counted from the beginning of the file or record.
  uint64_t offset() const { return base_ + pos_; }
  uint64_t remaining() const { return bytes_.size() - pos_; }

  /// Throws Error unless `count` bytes are left.
  void need(uint64_t count) const {
    HOTARU_CHECK(count <= remaining(), what_, ": ", count,
                 " bytes are needed at offset ", offset(), ", but only ",
                 remaining(), " are left");
  }

  /// Throws Error about what stands at an offset of the file or record.
  template <class... Args>
  [[noreturn]] void fail_at(uint64_t offset, const Args&... args) const {
    fail(what_, ": offset ", offset, ": ", args...);
  }

  void skip(uint64_t count) {
    need(count);
    pos_ += count;
  }

  Bytes take(uint64_t count) {
    need(count);
    Bytes out = bytes_.subspan(pos_, count);
    pos_ += count;
    return out;
  }

  std::string_view text(uint64_t count) {
    Bytes out = take(count);
    return {reinterpret_cast<const char*>(out.data()), out.size()};
  }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

 private:
  Bytes bytes_;
  std::string_view what_;
  uint64_t base_;
  uint64_t pos_ = 0;
};

}  // namespace hotaru::io
