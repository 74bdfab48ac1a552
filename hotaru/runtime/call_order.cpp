#include "hotaru/runtime/call_order.h"

#include <algorithm>
#include <utility>

namespace hotaru {

CallOrder::CallOrder(size_t calls) : sequential_(calls > kMostCalls) {
  after_.reserve(calls);
}

void CallOrder::add(std::vector<uint32_t> after) {
  const auto mine = uint32_t(after_.size());
  if (sequential_) {
    after.clear();
    if (mine > 0) after.push_back(mine - 1);
    return after_.push_back(std::move(after));
  }
  std::sort(after.begin(), after.end(), std::greater<>());
  std::vector<uint64_t> row(size_t(mine) / 64 + 1);
  std::vector<uint32_t> direct;
  for (const uint32_t before : after) {
    uint64_t& bits = row[before / 64];
    const uint64_t bit = uint64_t{1} << (before % 64);
    if (bits & bit) continue;
    bits |= bit;
    for (size_t i = 0; i < rows_[before].size(); ++i)
      row[i] |= rows_[before][i];
    direct.push_back(before);
  }
  after_.push_back(std::move(direct));
  rows_.push_back(std::move(row));
}

}  // namespace hotaru
