// Combinations of a vector's elements.
#include <algorithm>
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Positions that are listed at most: 2 GiB of them.
constexpr double kMostPositions = double(int64_t{1} << 28);

/// Throws for more, before there is any: their count grows faster than r.
void check_count(int64_t n, int64_t r, bool repeats) {
  const double of = repeats ? double(n) + double(r) - 1 : double(n);
  const double fewer = std::min(double(r), of - double(r));
  double count = double(r);
  // No factor is below 1, so it only grows.
  for (double i = 0; i < fewer && count <= kMostPositions; ++i)
    count *= (of - i) / (i + 1);
  HOTARU_CHECK(count <= kMostPositions, "combinations: too many of ", n,
               " elements, ", r, " at a time");
}

/// Positions 0 to n - 1 in rows of r, in lexical order.
std::vector<int64_t> choices(int64_t n, int64_t r, bool repeats) {
  std::vector<int64_t> out, row;
  if (n == 0 || (!repeats && r > n)) return out;
  check_count(n, r, repeats);
  for (int64_t i = 0; i < r; ++i) row.push_back(repeats ? 0 : i);
  const auto highest = [&](int64_t i) { return repeats ? n - 1 : n - r + i; };
  while (true) {
    out.insert(out.end(), row.begin(), row.end());
    int64_t i = r - 1;
    while (i >= 0 && row[size_t(i)] == highest(i)) --i;
    if (i < 0) return out;
    ++row[size_t(i)];
    for (int64_t k = i + 1; k < r; ++k)
      row[size_t(k)] = row[size_t(k - 1)] + (repeats ? 0 : 1);
  }
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  HOTARU_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ",
               shape_text(self.sizes()));
  HOTARU_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return empty(Dims{0}, TensorOptions(self));
  const std::vector<int64_t> chosen =
      choices(self.numel(), r, with_replacement);
  const Tensor positions = integers_on(chosen, self.device());
  return reshape(index_select(self, 0, positions),
                 Dims{int64_t(chosen.size()) / r, r});
}

HOTARU_OP(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> "
    "Tensor",
    combinations);

}  // namespace
}  // namespace hotaru
