#include "hotaru/io/weights/gguf_values.h"

#include <limits>

namespace hotaru::io {

namespace {

constexpr int kMaxDepth = 8;
// Size that strings and lists have beside their bytes and entries.
constexpr uint64_t kObjectSize = 80;

/// Bytes of a number or bool; 0 for others.
uint64_t fixed_size(GgufType type) {
  switch (type) {
    case GgufType::kUInt8:
    case GgufType::kInt8:
    case GgufType::kBool:
      return 1;
    case GgufType::kUInt16:
    case GgufType::kInt16:
      return 2;
    case GgufType::kUInt32:
    case GgufType::kInt32:
    case GgufType::kFloat32:
      return 4;
    case GgufType::kUInt64:
    case GgufType::kInt64:
    case GgufType::kFloat64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return 0;
  }
  return 0;
}

bool read_bool(ByteReader& in) {
  const uint64_t at = in.offset();
  const auto byte = in.number<uint8_t>();
  if (byte > 1) in.fail_at(at, "a bool is ", int(byte), "; it must be 0 or 1");
  return byte != 0;
}

/// Type and length of an array, whose elements may be there.
std::pair<GgufType, uint64_t> array_head(ByteReader& in, int depth) {
  const uint64_t at = in.offset();
  if (depth == kMaxDepth)
    in.fail_at(at, "arrays in more than ", kMaxDepth, " arrays");
  const GgufType type = gguf_type(in);
  const uint64_t count = in.number<uint64_t>();
  const uint64_t fixed = fixed_size(type);
  const uint64_t least = fixed ? fixed : type == GgufType::kString ? 8 : 12;
  if (count > in.remaining() / least)
    in.fail_at(at, "an array of ", count, " elements of ", least,
               " bytes or more, where ", in.remaining(), " bytes are left");
  return {type, count};
}

void charge(ByteReader& in, uint64_t bytes, uint64_t& memory) {
  if (bytes > memory)
    in.fail_at(in.offset(), "the metadata would take too much memory");
  memory -= bytes;
}

Value wide(uint64_t value) {
  if (value > uint64_t(std::numeric_limits<int64_t>::max()))
    return double(value);
  return int64_t(value);
}

}  // namespace

GgufType gguf_type(ByteReader& in) {
  const uint64_t at = in.offset();
  const auto number = in.number<uint32_t>();
  if (number > uint32_t(GgufType::kFloat64))
    in.fail_at(at, "a value of type ", number, "; types are 0 to 12");
  return GgufType(number);
}

std::string_view gguf_text(ByteReader& in, uint64_t limit) {
  const uint64_t at = in.offset();
  const auto length = in.number<uint64_t>();
  if (length > limit)
    in.fail_at(at, "a string of ", length, " bytes; here at most ", limit,
               " are allowed");
  return in.text(length);
}

void skip_gguf_value(ByteReader& in, GgufType type, int depth) {
  if (type == GgufType::kBool) {
    read_bool(in);
  } else if (type == GgufType::kString) {
    in.skip(in.number<uint64_t>());
  } else if (type != GgufType::kArray) {
    in.skip(fixed_size(type));
  } else {
    const auto [of, count] = array_head(in, depth);
    if (of != GgufType::kBool && fixed_size(of))
      in.skip(count * fixed_size(of));
    else
      for (uint64_t i = 0; i < count; ++i) skip_gguf_value(in, of, depth + 1);
  }
}

Value read_gguf_value(ByteReader& in, GgufType type, uint64_t& memory,
                      int depth) {
  switch (type) {
    case GgufType::kUInt8:
      return int64_t{in.number<uint8_t>()};
    case GgufType::kInt8:
      return int64_t{in.number<int8_t>()};
    case GgufType::kUInt16:
      return int64_t{in.number<uint16_t>()};
    case GgufType::kInt16:
      return int64_t{in.number<int16_t>()};
    case GgufType::kUInt32:
      return int64_t{in.number<uint32_t>()};
    case GgufType::kInt32:
      return int64_t{in.number<int32_t>()};
    case GgufType::kUInt64:
      return wide(in.number<uint64_t>());
    case GgufType::kInt64:
      return in.number<int64_t>();
    case GgufType::kFloat32:
      return double(in.number<float>());
    case GgufType::kFloat64:
      return in.number<double>();
    case GgufType::kBool:
      return read_bool(in);
    case GgufType::kString: {
      const std::string_view text = gguf_text(in, in.remaining());
      charge(in, kObjectSize + text.size(), memory);
      return std::string(text);
    }
    case GgufType::kArray:
      break;
  }
  const auto [of, count] = array_head(in, depth);
  charge(in, kObjectSize, memory);
  if (count > memory / sizeof(Value)) charge(in, memory + 1, memory);
  charge(in, count * sizeof(Value), memory);
  std::vector<Value> items;
  items.reserve(count);
  for (uint64_t i = 0; i < count; ++i)
    items.push_back(read_gguf_value(in, of, memory, depth + 1));
  return Value::list(std::move(items));
}

}  // namespace hotaru::io
