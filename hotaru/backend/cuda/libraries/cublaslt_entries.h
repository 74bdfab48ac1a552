// Every function of cuBLASLt that hotaru calls and the numbers that it calls
// them with, declared by ourselves: no header of NVIDIA is needed to build.
// They are those of cuBLASLt 12 and 13; tests compare them with cublasLt.h
// where it lies. All return a status, 0 where it went well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::cuda::lt {

using Handle = struct Context*;
using Desc = struct DescOpaque*;
using Layout = struct LayoutOpaque*;
using Preference = struct PreferenceOpaque*;

struct Algorithm {
  uint64_t data[8];
};
struct Choice {
  Algorithm algorithm;
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

/// cudaDataType.
enum Type : int {
  kR32F = 0,
  kR64F = 1,
  kR16F = 2,
  kC32F = 4,
  kC64F = 5,
  kR16BF = 14
};
enum Compute : int { kCompute32F = 68, kCompute64F = 70, kComputeTf32 = 77 };
enum Operation : int { kPlain = 0, kTransposed = 1 };
enum DescAttribute : int {
  kTransA = 3,
  kTransB = 4,
  kEpilogue = 7,
  kBiasPointer = 8
};
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kMaxWorkspace = 1,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};
enum Epilogue : int { kNothing = 1, kRelu = 2, kBias = 4, kGelu = 32 };
inline constexpr int kSuccess = 0;
inline constexpr int kNotSupported = 15;

// clang-format off
#define HOTARU_CUBLASLT_ENTRIES(X) \
  X(create, cublasLtCreate, (::hotaru::cuda::lt::Handle* handle)) \
  X(desc_create, cublasLtMatmulDescCreate, (::hotaru::cuda::lt::Desc* desc, int compute, int scale)) \
  X(desc_destroy, cublasLtMatmulDescDestroy, (::hotaru::cuda::lt::Desc desc)) \
  X(desc_set, cublasLtMatmulDescSetAttribute, (::hotaru::cuda::lt::Desc desc, int attribute, const void* value, size_t bytes)) \
  X(layout_create, cublasLtMatrixLayoutCreate, (::hotaru::cuda::lt::Layout* layout, int type, uint64_t rows, uint64_t columns, int64_t ld)) \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, (::hotaru::cuda::lt::Layout layout)) \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, (::hotaru::cuda::lt::Layout layout, int attribute, const void* value, size_t bytes)) \
  X(preference_create, cublasLtMatmulPreferenceCreate, (::hotaru::cuda::lt::Preference* preference)) \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, (::hotaru::cuda::lt::Preference preference)) \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute, (::hotaru::cuda::lt::Preference preference, int attribute, const void* value, size_t bytes)) \
  X(choose, cublasLtMatmulAlgoGetHeuristic, (::hotaru::cuda::lt::Handle handle, ::hotaru::cuda::lt::Desc desc, ::hotaru::cuda::lt::Layout a, ::hotaru::cuda::lt::Layout b, ::hotaru::cuda::lt::Layout c, ::hotaru::cuda::lt::Layout d, ::hotaru::cuda::lt::Preference preference, int wanted, ::hotaru::cuda::lt::Choice* found, int* count)) \
  X(matmul, cublasLtMatmul, (::hotaru::cuda::lt::Handle handle, ::hotaru::cuda::lt::Desc desc, const void* alpha, const void* a, ::hotaru::cuda::lt::Layout a_layout, const void* b, ::hotaru::cuda::lt::Layout b_layout, const void* beta, const void* c, ::hotaru::cuda::lt::Layout c_layout, void* d, ::hotaru::cuda::lt::Layout d_layout, const ::hotaru::cuda::lt::Algorithm* algorithm, void* workspace, size_t bytes, ::hotaru::cuda::CUstream stream))
// clang-format on

}  // namespace hotaru::cuda::lt
