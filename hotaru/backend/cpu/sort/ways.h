// The algorithms of sorting lines and of their first elements on the CPU, and
// which of them a line takes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/sort/sort_keys.h"

namespace hotaru::cpu {

// Elements from which counting bytes costs less than comparisons, and as many
// of a line for each that is asked for leave a heap less to do than parting.
inline constexpr int64_t kRadixElements = 400, kHeapElements = 64;

/// A line of n entries whose positions ascend, so that equal keys keep their
/// order; of the first k of them where those alone are asked for. Without
/// entries where a table is only asked.
template <class Entry>
struct EntryLine {
  int64_t n, k = 0;
  bool sorted = true;  // the first k
  std::vector<Entry>* entries = nullptr;
  std::vector<Entry>* spare = nullptr;
};

// Not inlined: several kernels sort.
template <class Entry>
[[gnu::noinline]] void sort_by_comparisons(const EntryLine<Entry>& line) {
  std::sort(line.entries->begin(), line.entries->end());
}

/// Byte by byte from the lowest (D. Knuth, The Art of Computer Programming 3,
/// 5.2.5), skipping bytes that are equal everywhere.
template <class Key, class Position>
[[gnu::noinline]] void radix_sort(
    const EntryLine<SortEntry<Key, Position>>& line) {
  auto &entries = *line.entries, &spare = *line.spare;
  const size_t n = entries.size();
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

/// Parted at the last that is asked for.
template <class Entry>
void part(const EntryLine<Entry>& line) {
  auto& e = *line.entries;
  const auto end = e.begin() + line.k;
  if (line.k < line.n) std::nth_element(e.begin(), end - 1, e.end());
  if (line.sorted) std::sort(e.begin(), end);
}

template <class Entry>
constexpr auto kSortWays = std::to_array<Way<EntryLine<Entry>>>({
    {"comparisons", "each line by comparisons of keys and positions", "",
     nullptr, "fewer than 400 elements",
     [](const EntryLine<Entry>& line) { return line.n < kRadixElements; },
     &sort_by_comparisons<Entry>},
    {"radix", "each line byte by byte of its keys, without comparisons", "",
     nullptr, "", nullptr,
     [](const EntryLine<Entry>& line) { radix_sort(line); }},
});

/// Ways to the first k > 0 of a line.
template <class Entry>
constexpr auto kFirstWays = std::to_array<Way<EntryLine<Entry>>>({
    {"heap", "one pass over each line, with the best so far in a heap", "",
     nullptr, "64 elements for each that is asked for",
     [](const EntryLine<Entry>& line) {
       return line.k * kHeapElements <= line.n;
     },
     [](const EntryLine<Entry>& line) {
       auto& e = *line.entries;
       std::partial_sort(e.begin(), e.begin() + line.k, e.end());
     }},
    {"parted", "each line parted at the last that is asked for, then sorted",
     "", nullptr, "", nullptr, &part<Entry>},
});

}  // namespace hotaru::cpu
