// Marks of what is compiled for the CPU and for other devices from one text.
#pragma once

/// HOTARU_INLINE: the body of a loop over elements. HOTARU_BOTH: called per
/// element, too, but left to the compiler; on the CPU it changes nothing.
#if defined(__CUDACC__)
#define HOTARU_INLINE __host__ __device__ inline
#define HOTARU_BOTH __host__ __device__
#else
#define HOTARU_INLINE [[gnu::always_inline]] inline
#define HOTARU_BOTH
#endif

/// HOTARU_DEVICE_CODE: whether this is a device's kernel, though it may be the
/// C++ compiler that reads it (backend/cuda/device/platform.h). Kernels of
/// devices do not throw.
#if defined(__CUDACC__) && !defined(HOTARU_DEVICE_CODE)
#define HOTARU_DEVICE_CODE
#endif
