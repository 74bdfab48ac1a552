// Sorting lines as unsigned integers: each element becomes a key with the same
// order, next to its position.
#pragma once

#include <bit>
#include <vector>

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

/// Sorts entries whose positions ascend, so that equal keys keep their order.
/// Long lines go through a radix sort, byte by byte from the lowest (D. Knuth,
/// The Art of Computer Programming 3, 5.2.5), skipping bytes that are equal
/// everywhere.
template <class Key, class Position>
void sort_entries(std::vector<SortEntry<Key, Position>>& entries,
                  std::vector<SortEntry<Key, Position>>& spare) {
  constexpr size_t kShort = 400;
  const size_t n = entries.size();
  if (n < kShort) {
    std::sort(entries.begin(), entries.end());
    return;
  }
  spare.resize(n);
  for (size_t shift = 0; shift < sizeof(Key) * 8; shift += 8) {
    size_t count[256] = {};
    for (const auto& entry : entries) ++count[entry.key >> shift & 255];
    if (count[entries[0].key >> shift & 255] == n) continue;
    size_t start = 0;
    for (size_t& c : count) start += std::exchange(c, start);
    for (const auto& entry : entries)
      spare[count[entry.key >> shift & 255]++] = entry;
    entries.swap(spare);
  }
}

}  // namespace hotaru::cpu
