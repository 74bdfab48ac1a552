// The one include of kernel sources: CUDA's language as nvcc gives it, or, for
// the GPU in software, as backend/soft_gpu gives it to the C++ compiler.
#pragma once

#if defined(__CUDACC__)
/// Marks what kernels call. Not only __device__, so that constexpr functions
/// and the formulas may call it, too.
#define HOTARU_DEVICE __host__ __device__
#define HOTARU_UNROLL _Pragma("unroll")
#define HOTARU_NO_UNROLL _Pragma("unroll 1")
#else
#ifndef HOTARU_DEVICE_CODE
#error "kernel sources are compiled with HOTARU_DEVICE_CODE"
#endif
#define HOTARU_DEVICE
#define HOTARU_UNROLL
#define HOTARU_NO_UNROLL
#include "hotaru/backend/soft_gpu/device.h"
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hotaru/core/dtype.h"

namespace hotaru::cuda {

/// Elements as they lie in memory; kernels compute in OpMath<T>.
template <class T>
struct StoredType {
  using type = T;
};
template <>
struct StoredType<Half> {
  using type = uint16_t;
};
template <>
struct StoredType<BFloat16> {
  using type = uint16_t;
};
template <>
struct StoredType<Bool> {
  using type = uint8_t;
};
template <>
struct StoredType<bool> {
  using type = uint8_t;
};
template <class T>
using Stored = typename StoredType<T>::type;

template <class T>
HOTARU_DEVICE inline OpMath<T> widen(Stored<T> x) {
  if constexpr (std::is_same_v<T, Half>) {
#ifdef __CUDA_ARCH__
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x));
    return value;
#else
    return float(Half::from_bits(x));
#endif
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return std::bit_cast<float>(uint32_t(x) << 16);
  } else if constexpr (std::is_same_v<OpMath<T>, bool>) {
    return x != 0;
  } else {
    return x;
  }
}

/// Narrows x; a NaN stays one, with other bits than the CPU's.
template <class T>
HOTARU_DEVICE inline Stored<T> narrow(OpMath<T> x) {
  if constexpr (kIsReduced<T>) {
#ifdef __CUDA_ARCH__
    uint16_t bits;
    if constexpr (std::is_same_v<T, Half>)
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    else
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    return T(x).bits;
#endif
  } else {
    return Stored<T>(x);
  }
}

/// 2 to the x, within 2 ulp and with 0 for results that are not normal: one
/// instruction.
HOTARU_DEVICE inline float fast_exp2(float x) {
#ifdef __CUDA_ARCH__
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
#else
  return std::exp2(x);
#endif
}

/// Some elements that are read or written by one instruction.
template <class T, uint32_t kLength>
struct alignas(sizeof(Stored<T>) * kLength) Vector {
  Stored<T> at[kLength];
};

template <class V>
HOTARU_DEVICE inline V load_vector(const void* from) {
  return *static_cast<const V*>(from);
}
template <class V>
HOTARU_DEVICE inline void store_vector(void* to, const V& v) {
  *static_cast<V*>(to) = v;
}

/// Puts x and y at v.at[i] and v.at[i + 1]: the hardware converts pairs.
template <class T, uint32_t kLength>
HOTARU_DEVICE inline void narrow_pair(Vector<T, kLength>& v, uint32_t i,
                                      OpMath<T> x, OpMath<T> y) {
#ifdef __CUDA_ARCH__
  if constexpr (kIsReduced<T>) {
    uint32_t bits;
    if constexpr (std::is_same_v<T, Half>)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
    else
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
    v.at[i] = uint16_t(bits);
    v.at[i + 1] = uint16_t(bits >> 16);
    return;
  }
#endif
  v.at[i] = narrow<T>(x);
  v.at[i + 1] = narrow<T>(y);
}

/// The element at an address.
template <class T>
HOTARU_DEVICE inline OpMath<T> load(const void* from) {
  return widen<T>(*static_cast<const Stored<T>*>(from));
}
template <class T>
HOTARU_DEVICE inline void store(void* to, OpMath<T> x) {
  *static_cast<Stored<T>*>(to) = narrow<T>(x);
}

/// First step of all threads of our kernels (HOTARU_CUDA_KERNEL sees to it):
/// lets kernels behind this one in a graph be set up, and waits for those
/// before it (PTX's griddepcontrol; nothing where no edge of the graph says
/// so).
///
/// Before the wait nothing is read or written, so a kernel that was set up
/// early finds and overwrites what it always would. And each ends after those
/// before it: who waits for one waits for all of these.
__device__ inline void begin_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#elif !defined(__CUDACC__)
  soft_gpu::wait_for_grids();
#endif
}

/// Memory of the block, as large as the launch says.
template <class T>
HOTARU_DEVICE inline T* dynamic_shared() {
#if defined(__CUDA_ARCH__)
  extern __shared__ __align__(16) unsigned char hotaru_shared[];
  return reinterpret_cast<T*>(hotaru_shared);
#elif defined(__CUDACC__)
  return nullptr;  // never called there
#else
  return soft_gpu::dynamic_shared<T>();
#endif
}

}  // namespace hotaru::cuda
