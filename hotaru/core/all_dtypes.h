// The list of dtypes, for sources that go through all of them.
#pragma once

#include "hotaru/core/dtype.h"

namespace hotaru {

/// Every dtype: those that PyTorch 1 had first, then the rare ones.
inline constexpr DType kAllDTypes[] = {
    DType::kUInt8,          DType::kInt8,           DType::kInt16,
    DType::kInt32,          DType::kInt64,          DType::kFloat16,
    DType::kFloat32,        DType::kFloat64,        DType::kComplex64,
    DType::kComplex128,     DType::kBool,           DType::kBFloat16,
    DType::kComplex32,      DType::kFloat8E5M2,     DType::kFloat8E4M3FN,
    DType::kFloat8E5M2FNUZ, DType::kFloat8E4M3FNUZ, DType::kUInt16,
    DType::kUInt32,         DType::kUInt64,
};

}  // namespace hotaru
