#include "hotaru/core/printing/concat.h"

#include <charconv>

namespace hotaru::text {

namespace {

template <class T>
void append_integer(std::string& out, T value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

}  // namespace

void append(std::string& out, const char* value) {
  out += value;
}

void append(std::string& out, std::string_view value) {
  out += value;
}

void append(std::string& out, char value) {
  out += value;
}

void append(std::string& out, int64_t value) {
  append_integer(out, value);
}

void append(std::string& out, uint64_t value) {
  append_integer(out, value);
}

void append(std::string& out, double value) {
  char digits[32];
  constexpr int kPrecision = 6;  // a stream's
  const auto end = std::to_chars(digits, digits + sizeof digits, value,
                                 std::chars_format::general, kPrecision)
                       .ptr;
  out.append(digits, end);
}

}  // namespace hotaru::text
