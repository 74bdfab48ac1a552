// Typed values of GGUF's metadata.
#pragma once

#include "hotaru/core/value.h"
#include "hotaru/io/byte_reader.h"

namespace hotaru::io {

/// Types of values by their numbers in files.
enum class GgufType : uint32_t {
  kUInt8 = 0,
  kInt8 = 1,
  kUInt16 = 2,
  kInt16 = 3,
  kUInt32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUInt64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

/// The type that stands at the reader's position. Throws Error for others.
GgufType gguf_type(ByteReader& in);
/// A string of at most `limit` bytes, which its length in 8 bytes precedes.
std::string_view gguf_text(ByteReader& in, uint64_t limit);

/// Steps over a value and checks it. Throws Error, with the offset, for one
/// that reaches beyond the file, arrays in more than 8 arrays, and bools other
/// than 0 and 1. Takes no memory.
void skip_gguf_value(ByteReader& in, GgufType type, int depth = 0);

/// The value: int, float, bool, str, list. `memory` is what it may take and is
/// reduced by that; throws Error when it is not enough. uint64 beyond int64
/// becomes float.
Value read_gguf_value(ByteReader& in, GgufType type, uint64_t& memory,
                      int depth = 0);

}  // namespace hotaru::io
