// Which calls of a sequence have to come after which others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hotaru {

/// A directed graph over calls that are numbered in an order it permits.
class CallOrder {
 public:
  /// Calls from which on all simply follow one another: what precedes what is
  /// kept as bits, the square of the calls.
  static constexpr size_t kMostCalls = 16384;

  explicit CallOrder(size_t calls = 0);
  /// The next call comes after these, in any order and as often as they like;
  /// those that others of them come after are left out.
  void add(std::vector<uint32_t> after);

  size_t size() const { return after_.size(); }
  /// Calls that a call comes after at once: the last first.
  std::span<const uint32_t> after(size_t call) const { return after_[call]; }
  /// True if b comes after a, over any number of others.
  bool precedes(size_t a, size_t b) const {
    if (rows_.empty()) return a < b;
    return a < b && (rows_[b][a / 64] >> (a % 64) & 1);
  }

 private:
  bool sequential_;
  std::vector<std::vector<uint32_t>> after_;
  std::vector<std::vector<uint64_t>> rows_;  // all that precede, as bits
};

}  // namespace hotaru
