// Updates of elements that several threads may make at once.
#pragma once

#include "hotaru/backend/cuda/device/combine.h"

namespace hotaru::cuda {

/// Replaces the element by f of it. 8 and 16 bits are changed within the word
/// around them.
template <class T, class F>
__device__ inline void atomic_update(void* to, const F& f) {
  using S = Stored<T>;
  constexpr size_t kWide = sizeof(S) < 4 ? 4 : sizeof(S);
  using Word = std::conditional_t<kWide == 8, unsigned long long, unsigned>;
  const auto address = reinterpret_cast<uintptr_t>(to);
  auto* word = reinterpret_cast<Word*>(address & ~uintptr_t(kWide - 1));
  const uint32_t shift = uint32_t(address % kWide) * 8;
  Word seen = *word;
  while (true) {
    if constexpr (sizeof(S) == kWide) {
      const S next = narrow<T>(f(widen<T>(std::bit_cast<S>(seen))));
      const Word before = atomicCAS(word, seen, std::bit_cast<Word>(next));
      if (before == seen) return;
      seen = before;
    } else {
      using U = std::conditional_t<sizeof(S) == 1, uint8_t, uint16_t>;
      const Word mask = Word(U(~U(0))) << shift;
      const S next = narrow<T>(f(widen<T>(std::bit_cast<S>(U(seen >> shift)))));
      const Word value =
          (seen & ~mask) | (Word(std::bit_cast<U>(next)) << shift);
      const Word before = atomicCAS(word, seen, value);
      if (before == seen) return;
      seen = before;
    }
  }
}

/// For elements that are too large for one word: 0, or 1 while a thread works
/// on an element that has this lock.
inline constexpr uint32_t kElementLocks = 1024;
static __device__ unsigned element_locks[kElementLocks];

template <class T, class F>
__device__ inline void locked_update(void* to, const F& f) {
  unsigned* lock = &element_locks[reinterpret_cast<uintptr_t>(to) / sizeof(T) %
                                  kElementLocks];
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0u, 1u) != 0u) continue;
    __threadfence();
    // Past caches, which other processors do not keep.
    auto* words = static_cast<volatile uint64_t*>(to);
    uint64_t copy[sizeof(T) / 8];
    for (size_t i = 0; i < sizeof(T) / 8; ++i) copy[i] = words[i];
    T value;
    std::memcpy(&value, copy, sizeof(T));
    value = f(value);
    std::memcpy(copy, &value, sizeof(T));
    for (size_t i = 0; i < sizeof(T) / 8; ++i) words[i] = copy[i];
    __threadfence();
    atomicExch(lock, 0u);
    done = true;
  }
}

struct AtomicAdd {
  template <class T>
  __device__ static void at(void* to, OpMath<T> x) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      atomicAdd(static_cast<T*>(to), x);
    else if constexpr (std::is_same_v<T, int32_t>)
      atomicAdd(static_cast<unsigned*>(to), unsigned(x));
    else if constexpr (std::is_same_v<T, int64_t>)
      atomicAdd(static_cast<unsigned long long*>(to), (unsigned long long)(x));
    else
      atomic_update<T>(to, [x](OpMath<T> a) { return Plus::of<T>(a, x); });
  }
};
/// The same of any operation of device/combine.h.
template <class Operation>
struct Atomic {
  template <class T>
  __device__ static void at(void* to, OpMath<T> x) {
    const auto combined = [x](OpMath<T> a) {
      return Operation::template of<T>(a, x);
    };
    if constexpr (sizeof(Stored<T>) > 8)
      locked_update<T>(to, combined);
    else
      atomic_update<T>(to, combined);
  }
};

}  // namespace hotaru::cuda
