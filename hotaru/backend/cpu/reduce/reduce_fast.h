// Parts of reductions that vectors do faster than their formula, element by
// element. See reduce_loop.h for what a Fast<R> may say.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/cpu/reduce/reduce_simd.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"

namespace hotaru::cpu::reduce {

inline constexpr int64_t kBlock = 1024;

/// Parts that a reduction has of its own, unless this is specialised for it.
template <class R>
struct Fast : R {};

/// Blocks of 16-bit numbers are blocks of wide ones.
template <class T, class F>
float widened(const T* x, int64_t n, const F& block) {
  alignas(64) float wide[kBlock];
  widen(x, wide, n);
  return block(wide, n);
}

template <class T>
struct Fast<formulas::Sum<T>> {
  using Acc = typename formulas::Sum<T>::Acc;
  static Acc block(const T* x, int64_t n) requires std::is_floating_point_v<T> {
    return sum_block(x, n);
  }
  static Acc block(const T* x, int64_t n) requires kIsReduced<T> {
    return widened(x, n, [](auto* w, int64_t m) { return sum_block(w, m); });
  }
  static void rows(Acc* acc, const T* x, int64_t count, int64_t stride,
                   int64_t width) requires std::is_floating_point_v<T> {
    add_rows(acc, x, count, stride, width);
  }
};

template <class T>
struct Fast<formulas::Product<T>> {
  static T block(const T* x, int64_t n) requires std::is_floating_point_v<T> {
    return product_block(x, n);
  }
};

/// The bits that say whether a number is zero: all but the sign of floats.
template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 8, uint64_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
template <class T>
inline constexpr BitsOf<T> kNumberBits =
    std::numeric_limits<BitsOf<T>>::max() >> (kIsFloating<T> ? 1 : 0);
/// Numbers of one word, of which the compiler compares several at a time.
template <class T>
concept kIsWord = sizeof(T) >= 2 && sizeof(T) <= 8 && !kIsComplex<T>;

/// Tells whether any of n words, or all, have one of the bits.
template <class Word>
[[gnu::noinline]] bool any_word(const Word* x, int64_t n, Word bits) {
  Word found = 0;
  for (int64_t i = 0; i < n; ++i) found |= x[i];
  return (found & bits) != 0;
}
template <class Word>
[[gnu::noinline]] bool all_words(const Word* x, int64_t n, Word bits) {
  constexpr Word kAll = std::numeric_limits<Word>::max();
  Word zeros = 0;
  for (int64_t i = 0; i < n; ++i) zeros |= (x[i] & bits) == 0 ? kAll : Word(0);
  return zeros == 0;
}
/// How many of them do; of so few as fit a word.
template <class Word>
[[gnu::noinline]] int64_t count_words(const Word* x, int64_t n, Word bits) {
  Word total = 0;
  for (int64_t i = 0; i < n; ++i) total += (x[i] & bits) != 0;
  return int64_t(total);
}
static_assert(kBlock <= std::numeric_limits<uint16_t>::max());

template <class T>
struct Fast<formulas::CountNonzero<T>> {
  /// Counts of so few fit a byte, of which vectors hold most.
  static int64_t block(const T* x, int64_t n) requires(sizeof(T) == 1) {
    constexpr int64_t kFew = 240;
    int64_t total = 0;
    for (int64_t from = 0; from < n; from += kFew) {
      const int64_t end = std::min(n, from + kFew);
      uint8_t few = 0;
      for (int64_t i = from; i < end; ++i) few += x[i] != T(0);
      total += few;
    }
    return total;
  }
  static int64_t block(const T* x, int64_t n) requires kIsWord<T> {
    return count_words(reinterpret_cast<const BitsOf<T>*>(x), n,
                       kNumberBits<T>);
  }
};

template <>
struct Fast<formulas::Sum<int64_t>> {
  static uint64_t block(const int64_t* x, int64_t n) {
    return uint64_t(sum_block(x, n));
  }
};

template <>
struct Fast<formulas::Sum<std::complex<float>>> {
  static std::complex<float> block(const std::complex<float>* x, int64_t n) {
    return sum_block(x, n);
  }
};

template <>
struct Fast<formulas::Sum<Bool>> {
  static uint64_t block(const Bool* x, int64_t n) {
    using Bytes = Fast<formulas::CountNonzero<uint8_t>>;
    return uint64_t(Bytes::block(reinterpret_cast<const uint8_t*>(x), n));
  }
};

template <class T>
struct Fast<formulas::Any<T>> {
  static bool block(const T* x, int64_t n) requires kIsWord<T> {
    return any_word(reinterpret_cast<const BitsOf<T>*>(x), n, kNumberBits<T>);
  }
};
template <class T>
struct Fast<formulas::All<T>> {
  static bool block(const T* x, int64_t n) requires kIsWord<T> {
    return all_words(reinterpret_cast<const BitsOf<T>*>(x), n, kNumberBits<T>);
  }
};

template <class T>
struct Fast<formulas::SumSquares<T>> {
  using Acc = typename formulas::SumSquares<T>::Acc;
  static Acc block(const T* x, int64_t n) requires std::is_floating_point_v<T> {
    return sum_squares_block(x, n);
  }
  static Acc block(const T* x, int64_t n) requires kIsReduced<T> {
    return widened(x, n,
                   [](auto* w, int64_t m) { return sum_squares_block(w, m); });
  }
  static void rows(Acc* acc, const T* x, int64_t count, int64_t stride,
                   int64_t width) requires std::is_floating_point_v<T> {
    add_square_rows(acc, x, count, stride, width);
  }
  // Sums the squares of complex numbers' parts. Where that is not a number it
  // may be infinite by the formula, which takes longer.
  static Acc block(const T* x, int64_t n) requires kIsComplex<T> {
    const Acc quick = sum_squares_block(reinterpret_cast<const Acc*>(x), 2 * n);
    if (!formulas::not_a_number(quick)) return quick;
    Acc acc = 0;
    for (int64_t i = 0; i < n; ++i) acc += formulas::SumSquares<T>::load(x[i]);
    return acc;
  }
  static void rows(Acc* acc, const T* x, int64_t count, int64_t stride,
                   int64_t width) requires kIsComplex<T> {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width; ++j) {
        const T z = x[i * stride + j];
        acc[j] += z.real() * z.real() + z.imag() * z.imag();
      }
    for (int64_t j = 0; j < width; ++j) {
      if (!formulas::not_a_number(acc[j])) continue;
      acc[j] = 0;
      for (int64_t i = 0; i < count; ++i)
        acc[j] += formulas::SumSquares<T>::load(x[i * stride + j]);
    }
  }
};

template <class T>
struct Fast<formulas::NanSum<T>> {
  static T block(const T* x, int64_t n) requires std::is_floating_point_v<T> {
    return nan_sum_block(x, n);
  }
};

template <class T, bool kLargest>
struct FastExtremum {
  static T block(const T* x, int64_t n) requires std::is_floating_point_v<T> {
    return kLargest ? max_block(x, n) : min_block(x, n);
  }
  static T block(const T* x, int64_t n) requires kIsReduced<T> {
    return T(widened(x, n, [](auto* w, int64_t m) {
      return kLargest ? max_block(w, m) : min_block(w, m);
    }));
  }
  static void rows(T* acc, const T* x, int64_t count, int64_t stride,
                   int64_t width) requires std::is_floating_point_v<T> {
    if (kLargest)
      max_rows(acc, x, count, stride, width);
    else
      min_rows(acc, x, count, stride, width);
  }
};
template <class T>
struct Fast<formulas::Largest<T>> : FastExtremum<T, true> {};
template <class T>
struct Fast<formulas::Smallest<T>> : FastExtremum<T, false> {};

}  // namespace hotaru::cpu::reduce
