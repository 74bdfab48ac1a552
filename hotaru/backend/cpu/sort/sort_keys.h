// Sorting lines as unsigned integers: each element becomes a key with the same
// order, next to its position.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "hotaru/backend/cpu/number.h"

namespace hotaru::cpu {

/// The unsigned integer of T's size.
template <size_t kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};
template <class T>
using KeyOf = typename UnsignedOf<sizeof(T)>::type;

/// Keys compare as their elements do: NaN above everything and equal to NaN,
/// -0 equal to 0.
template <class T>
KeyOf<T> sort_key(T x) {
  using Key = KeyOf<T>;
  constexpr Key kTop = Key(Key{1} << (sizeof(T) * 8 - 1));
  if constexpr (kIsFloating<T>) {
    if (is_nan(x)) return Key(~Key{0});
    const auto bits = std::bit_cast<Key>(x);
    if (Key(bits << 1) == 0) return kTop;
    return bits & kTop ? Key(~bits) : Key(bits | kTop);
  } else if constexpr (std::is_signed_v<T>) {
    return Key(Key(x) ^ kTop);
  } else {
    return Key(x);
  }
}

/// A key and where its element stood. Lines of up to 2^32 elements with keys
/// of at most 32 bits take eight bytes an entry.
template <class Key, class Position>
struct SortEntry {
  Position position;
  Key key;
  /// A total order: equal keys keep their order.
  bool operator<(const SortEntry& other) const {
    if constexpr (sizeof(Key) + sizeof(Position) <= 8)
      return packed() < other.packed();
    else
      return key < other.key || (key == other.key && position < other.position);
  }
  uint64_t packed() const { return uint64_t{key} << 32 | uint64_t{position}; }
};

}  // namespace hotaru::cpu
