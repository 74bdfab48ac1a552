// PyTorch's small macros, for programs that use them.
#pragma once

#include "c10/macros/Export.h"

#define C10_LIKELY(expression) (__builtin_expect(bool(expression), 1))
#define C10_UNLIKELY(expression) (__builtin_expect(bool(expression), 0))
#define C10_LIKELY_OR_CONST(expression) C10_LIKELY(expression)
#define C10_UNLIKELY_OR_CONST(expression) C10_UNLIKELY(expression)
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((always_inline))
#define C10_NODISCARD [[nodiscard]]
#define C10_UNUSED [[maybe_unused]]
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_RESTRICT __restrict
#define C10_DEPRECATED [[deprecated]]
#define C10_DEPRECATED_MESSAGE(message) [[deprecated(message)]]
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(name) C10_CONCATENATE(name, __COUNTER__)

#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif

#define C10_DISABLE_COPY_AND_ASSIGN(Class) \
  Class(const Class&) = delete; \
  Class& operator=(const Class&) = delete
