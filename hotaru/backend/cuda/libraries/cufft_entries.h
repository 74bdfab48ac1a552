// Every function of cuFFT that hotaru calls and the numbers that it calls them
// with, declared by ourselves: no header of NVIDIA is needed to build. They are
// those of cuFFT 11 and 12 (CUDA 12 and 13); tests compare them with cufftXt.h
// where it lies. All return a status, 0 where it went well.
#pragma once

#include <cstddef>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::cuda::cufft {

using Handle = int;

/// cudaDataType.
enum Type : int { kR32F = 0, kR64F = 1, kC32F = 4, kC64F = 5 };
enum Direction : int { kForward = -1, kBack = 1 };
inline constexpr int kSuccess = 0;

// clang-format off
#define HOTARU_CUFFT_ENTRIES(X) \
  X(create, cufftCreate, (::hotaru::cuda::cufft::Handle* plan)) \
  X(set_automatic, cufftSetAutoAllocation, (::hotaru::cuda::cufft::Handle plan, int automatic)) \
  X(make, cufftXtMakePlanMany, (::hotaru::cuda::cufft::Handle plan, int rank, long long* n, long long* in_sizes, long long in_step, long long in_line, int in_type, long long* out_sizes, long long out_step, long long out_line, int out_type, long long batch, size_t* bytes, int compute)) \
  X(set_stream, cufftSetStream, (::hotaru::cuda::cufft::Handle plan, ::hotaru::cuda::CUstream stream)) \
  X(set_room, cufftSetWorkArea, (::hotaru::cuda::cufft::Handle plan, void* room)) \
  X(run, cufftXtExec, (::hotaru::cuda::cufft::Handle plan, void* in, void* out, int direction)) \
  X(destroy, cufftDestroy, (::hotaru::cuda::cufft::Handle plan)) \
  X(version, cufftGetVersion, (int* version))
// clang-format on

}  // namespace hotaru::cuda::cufft
