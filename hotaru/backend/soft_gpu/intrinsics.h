// CUDA's atomics, bit casts and arithmetic intrinsics in plain C++. A thread
// is never interrupted, so atomics only have to be so towards the host, which
// may read pinned memory at the same time.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <type_traits>

template <class T>
requires std::integral<T> T atomicAdd(T* to, std::type_identity_t<T> value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
template <class T>
requires std::floating_point<T> T atomicAdd(T* to,
                                            std::type_identity_t<T> value) {
  const T before = *to;
  *to = before + value;
  return before;
}
template <class T>
T atomicSub(T* to, std::type_identity_t<T> value) {
  return __atomic_fetch_sub(to, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicExch(T* to, std::type_identity_t<T> value) {
  T before;
  __atomic_exchange(to, &value, &before, __ATOMIC_RELAXED);
  return before;
}
template <class T>
T atomicCAS(T* to, std::type_identity_t<T> expected,
            std::type_identity_t<T> value) {
  // In order with the host, which gives such words back.
  __atomic_compare_exchange(to, &expected, &value, false, __ATOMIC_ACQ_REL,
                            __ATOMIC_ACQUIRE);
  return expected;
}
template <class T>
T atomicOr(T* to, std::type_identity_t<T> value) {
  return __atomic_fetch_or(to, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicAnd(T* to, std::type_identity_t<T> value) {
  return __atomic_fetch_and(to, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicXor(T* to, std::type_identity_t<T> value) {
  return __atomic_fetch_xor(to, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicMax(T* to, std::type_identity_t<T> value) {
  const T before = __atomic_load_n(to, __ATOMIC_RELAXED);
  if (before < value) __atomic_store_n(to, value, __ATOMIC_RELAXED);
  return before;
}
template <class T>
T atomicMin(T* to, std::type_identity_t<T> value) {
  const T before = __atomic_load_n(to, __ATOMIC_RELAXED);
  if (value < before) __atomic_store_n(to, value, __ATOMIC_RELAXED);
  return before;
}

inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_block() {}
inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
void __stcs(T* to, std::type_identity_t<T> value) {
  *to = value;
}

inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
inline long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __mulhi(int a, int b) {
  return int(static_cast<long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a,
                                     unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<Wide>(a) * b >> 64);
}
inline int __clz(int x) {
  return std::countl_zero(unsigned(x));
}
inline int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}
inline int __popc(unsigned x) {
  return std::popcount(x);
}
inline int __popcll(unsigned long long x) {
  return std::popcount(x);
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result |= (x >> i & 1u) << (31 - i);
  return result;
}

// glibc declares functions of these names in <math.h>, so they are macros.
#define __sincosf sincosf
#define __sinf sinf
#define __cosf cosf
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __expf expf
#define __powf powf
inline float rsqrtf(float x) {
  return 1.0f / std::sqrt(x);
}
inline double rsqrt(double x) {
  return 1.0 / std::sqrt(x);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float __saturatef(float x) {
  return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __frcp_rn(float a) {
  return 1.0f / a;
}
inline float __fsqrt_rn(float a) {
  return std::sqrt(a);
}
inline double __fma_rn(double a, double b, double c) {
  return std::fma(a, b, c);
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline double __dsqrt_rn(double a) {
  return std::sqrt(a);
}
inline int __float2int_rn(float x) {
  return int(lrintf(x));
}
inline float __int2float_rn(int x) {
  return float(x);
}
inline float __uint2float_rn(unsigned x) {
  return float(x);
}
