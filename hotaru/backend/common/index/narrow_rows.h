// Tables whose rows are integers of 8 or 4 bits, with what makes floats of
// them.
#pragma once

#include <cstdint>

namespace hotaru {

/// Bytes behind the integers of a part: scale and bias, each a float beside 8
/// bits, of half precision beside 4.
constexpr int64_t narrow_tail(int64_t bits) {
  return bits == 8 ? 8 : 4;
}

/// Operands of "narrow_rows": write out [positions, parts * width] float32,
/// read table uint8 [rows, parts, bytes], read indices (int64 or int32)
/// [positions], all row-major. A part has `width` integers q of `bits` bits, of
/// 4 the low ones of a byte first, then scale and bias, as a row of PyTorch's
/// embedding_bag_byte_prepack and embedding_bag_4bit_prepack has:
///   q * scale + bias     in float32, rounded once where there is an FMA
/// An index that is no row is an IndexError when the kernel runs, before
/// anything is written.
struct NarrowRowsAttributes {
  int64_t bits = 8;

  int64_t width(int64_t bytes) const {
    return (bytes - narrow_tail(bits)) * (8 / bits);
  }
};

}  // namespace hotaru
