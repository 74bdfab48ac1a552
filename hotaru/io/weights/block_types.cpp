#include "hotaru/io/weights/block_types.h"

#include <cstring>

#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::io {

namespace {

// Elements of a block, of one with scales of its parts ("K"), and of such a
// part.
constexpr int kBlock = 32;
constexpr int kSuperBlock = 256;

uint8_t byte_at(const std::byte* at) {
  return std::to_integer<uint8_t>(*at);
}
int8_t signed_at(const std::byte* at) {
  return int8_t(byte_at(at));
}
int low(const std::byte* at) {
  return byte_at(at) & 15;
}
int high(const std::byte* at) {
  return byte_at(at) >> 4;
}
float half_at(const std::byte* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return Half::from_bits(bits);
}
uint32_t word_at(const std::byte* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// One function a type: what a block holds, in order, says its comment. Low
// halves of bytes are the block's (or part's) first elements, high halves its
// last.

/// scale, 32 x 8 bits
void q8_0(const std::byte* block, float* out) {
  const float scale = half_at(block);
  for (int i = 0; i < kBlock; ++i)
    out[i] = scale * float(signed_at(block + 2 + i));
}

/// scale, 32 x 4 bits around 8
void q4_0(const std::byte* block, float* out) {
  const float scale = half_at(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * float(low(block + 2 + i) - 8);
    out[i + 16] = scale * float(high(block + 2 + i) - 8);
  }
}

/// scale, minimum, 32 x 4 bits
void q4_1(const std::byte* block, float* out) {
  const float scale = half_at(block), minimum = half_at(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * float(low(block + 4 + i)) + minimum;
    out[i + 16] = scale * float(high(block + 4 + i)) + minimum;
  }
}

/// The fifth bit of an element, in its place.
int fifth(uint32_t bits, int i) {
  return int((bits >> i & 1) << 4);
}

/// scale, 32 fifth bits, 32 x 4 bits; around 16
void q5_0(const std::byte* block, float* out) {
  const float scale = half_at(block);
  const uint32_t bits = word_at(block + 2);
  for (int i = 0; i < 16; ++i) {
    const std::byte* at = block + 6 + i;
    out[i] = scale * float((low(at) | fifth(bits, i)) - 16);
    out[i + 16] = scale * float((high(at) | fifth(bits, i + 16)) - 16);
  }
}

/// scale, minimum, 32 fifth bits, 32 x 4 bits
void q5_1(const std::byte* block, float* out) {
  const float scale = half_at(block), minimum = half_at(block + 2);
  const uint32_t bits = word_at(block + 4);
  for (int i = 0; i < 16; ++i) {
    const std::byte* at = block + 8 + i;
    out[i] = scale * float(low(at) | fifth(bits, i)) + minimum;
    out[i + 16] = scale * float(high(at) | fifth(bits, i + 16)) + minimum;
  }
}

/// Scale and minimum of a super block's eight parts of 32 elements.
struct Part {
  float scale, minimum;

  /// Both have 6 bits. Of the first four parts they are bytes 0 to 3 and 4 to
  /// 7; of the others the low four bits are the halves of bytes 8 to 11, and
  /// the high two those left over in the bytes before.
  Part(const std::byte* packed, int part, float d, float dmin) {
    int s, m;
    if (part < 4) {
      s = byte_at(packed + part) & 63;
      m = byte_at(packed + part + 4) & 63;
    } else {
      s = low(packed + part + 4) | byte_at(packed + part - 4) >> 6 << 4;
      m = high(packed + part + 4) | byte_at(packed + part) >> 6 << 4;
    }
    scale = d * float(s);
    minimum = dmin * float(m);
  }
};

/// scale, scale of minima, 12 bytes for parts, 4 x (32 low and 32 high halves)
void q4_k(const std::byte* block, float* out) {
  const float d = half_at(block), dmin = half_at(block + 2);
  for (int pair = 0; pair < 4; ++pair) {
    const Part a(block + 4, 2 * pair, d, dmin);
    const Part b(block + 4, 2 * pair + 1, d, dmin);
    const std::byte* packed = block + 16 + size_t(pair) * 32;
    for (int i = 0; i < 32; ++i) {
      out[i] = a.scale * float(low(packed + i)) - a.minimum;
      out[i + 32] = b.scale * float(high(packed + i)) - b.minimum;
    }
    out += 64;
  }
}

/// The same with the fifth bits of 32 columns before the halves, a bit for
/// each part.
void q5_k(const std::byte* block, float* out) {
  const float d = half_at(block), dmin = half_at(block + 2);
  const std::byte* columns = block + 16;
  for (int pair = 0; pair < 4; ++pair) {
    const Part a(block + 4, 2 * pair, d, dmin);
    const Part b(block + 4, 2 * pair + 1, d, dmin);
    const std::byte* packed = block + 48 + size_t(pair) * 32;
    for (int i = 0; i < 32; ++i) {
      const uint32_t bits = byte_at(columns + i);
      out[i] =
          a.scale * float(low(packed + i) | fifth(bits, 2 * pair)) - a.minimum;
      out[i + 32] =
          b.scale * float(high(packed + i) | fifth(bits, 2 * pair + 1)) -
          b.minimum;
    }
    out += 64;
  }
}

/// 128 bytes of halves, 64 of two upper bits, 16 scales of 8 bits, scale;
/// around 32. Each half of the block: 64 + 32 bytes, for 4 x 32 elements.
void q6_k(const std::byte* block, float* out) {
  const float d = half_at(block + 208);
  for (int half = 0; half < 2; ++half) {
    const std::byte* packed = block + size_t(half) * 64;
    const std::byte* upper = block + 128 + size_t(half) * 32;
    const std::byte* scales = block + 192 + size_t(half) * 8;
    float scale[8];  // of 16 elements each
    for (int part = 0; part < 8; ++part)
      scale[part] = d * float(signed_at(scales + part));
    for (int i = 0; i < 32; ++i) {
      const int bits = byte_at(upper + i);
      const float* s = scale + i / 16;
      const std::byte* at = packed + i;
      out[i] = s[0] * float((low(at) | (bits & 3) << 4) - 32);
      out[i + 32] = s[2] * float((low(at + 32) | (bits >> 2 & 3) << 4) - 32);
      out[i + 64] = s[4] * float((high(at) | (bits >> 4 & 3) << 4) - 32);
      out[i + 96] = s[6] * float((high(at + 32) | bits >> 6 << 4) - 32);
    }
    out += 128;
  }
}

template <void (*kOne)(const std::byte*, float*), int kElements, int kBytes>
void each(const std::byte* blocks, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i)
    kOne(blocks + i * kBytes, out + i * kElements);
}

constexpr int kSuper = kSuperBlock;  // for the table's lines

constexpr BlockType kTypes[] = {
    {0, "F32", 1, 4, DType::kFloat32},
    {1, "F16", 1, 2, DType::kFloat16},
    {2, "Q4_0", kBlock, 18, {}, each<q4_0, kBlock, 18>},
    {3, "Q4_1", kBlock, 20, {}, each<q4_1, kBlock, 20>},
    {6, "Q5_0", kBlock, 22, {}, each<q5_0, kBlock, 22>},
    {7, "Q5_1", kBlock, 24, {}, each<q5_1, kBlock, 24>},
    {8, "Q8_0", kBlock, 34, {}, each<q8_0, kBlock, 34>},
    {9, "Q8_1", kBlock, 40},
    {10, "Q2_K", kSuper, 84},
    {11, "Q3_K", kSuper, 110},
    {12, "Q4_K", kSuper, 144, {}, each<q4_k, kSuper, 144>},
    {13, "Q5_K", kSuper, 176, {}, each<q5_k, kSuper, 176>},
    {14, "Q6_K", kSuper, 210, {}, each<q6_k, kSuper, 210>},
    {15, "Q8_K", kSuper, 292},
    {16, "IQ2_XXS", kSuper, 66},
    {17, "IQ2_XS", kSuper, 74},
    {18, "IQ3_XXS", kSuper, 98},
    {19, "IQ1_S", kSuper, 50},
    {20, "IQ4_NL", kBlock, 18},
    {21, "IQ3_S", kSuper, 110},
    {22, "IQ2_S", kSuper, 82},
    {23, "IQ4_XS", kSuper, 136},
    {24, "I8", 1, 1, DType::kInt8},
    {25, "I16", 1, 2, DType::kInt16},
    {26, "I32", 1, 4, DType::kInt32},
    {27, "I64", 1, 8, DType::kInt64},
    {28, "F64", 1, 8, DType::kFloat64},
    {29, "IQ1_M", kSuper, 56},
    {30, "BF16", 1, 2, DType::kBFloat16},
    {34, "TQ1_0", kSuper, 54},
    {35, "TQ2_0", kSuper, 66},
    {39, "MXFP4", kBlock, 17},
    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
};

}  // namespace

const BlockType* find_block_type(uint32_t number) {
  for (const BlockType& type : kTypes)
    if (type.number == number) return &type;
  return nullptr;
}

const BlockType* find_block_type(std::string_view name) {
  for (const BlockType& type : kTypes)
    if (type.name == name) return &type;
  return nullptr;
}

void unpack_blocks(const BlockType& type, const std::byte* blocks,
                   int64_t count, float* out) {
  const int64_t grain = kGrainSize / type.elements;
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    type.unpack(blocks + begin * type.nbytes, end - begin,
                out + begin * type.elements);
  });
}

}  // namespace hotaru::io
