// dtypes by the names that safetensors has for them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "hotaru/core/dtype.h"

namespace hotaru::io {

struct SafetensorsType {
  std::string_view name;
  int bits;                    // of an element
  std::optional<DType> dtype;  // none: no tensor here can have it
};

/// In the format's order: tensors are written by descending type.
inline constexpr std::array<SafetensorsType, 22> kSafetensorsTypes = {{
    {"BOOL", 8, DType::kBool},
    {"F4", 4, DType::kFloat4E2M1FNX2},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"U8", 8, DType::kUInt8},
    {"I8", 8, DType::kInt8},
    {"F8_E5M2", 8, DType::kFloat8E5M2},
    {"F8_E4M3", 8, DType::kFloat8E4M3FN},
    {"F8_E8M0", 8, DType::kFloat8E8M0FNU},
    {"F8_E4M3FNUZ", 8, DType::kFloat8E4M3FNUZ},
    {"F8_E5M2FNUZ", 8, DType::kFloat8E5M2FNUZ},
    {"I16", 16, DType::kInt16},
    {"U16", 16, DType::kUInt16},
    {"F16", 16, DType::kFloat16},
    {"BF16", 16, DType::kBFloat16},
    {"I32", 32, DType::kInt32},
    {"U32", 32, DType::kUInt32},
    {"F32", 32, DType::kFloat32},
    {"C64", 64, DType::kComplex64},
    {"F64", 64, DType::kFloat64},
    {"I64", 64, DType::kInt64},
    {"U64", 64, DType::kUInt64},
}};

/// Name of the header that holds no tensor.
inline constexpr std::string_view kMetadataKey = "__metadata__";
/// Longer headers are refused, as by the format's own library.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

}  // namespace hotaru::io
