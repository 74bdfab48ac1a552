#include "hotaru/backend/cuda/fft/plan.h"

#include <algorithm>

namespace hotaru::cuda::fft {
namespace {

/// Passes of radices without a butterfly of their own take a product for each
/// pair of points: from here on a convolution is less.
constexpr int64_t kLargestRadix = 61;
/// Columns are read by neighbouring threads side by side: a block has at least
/// four of no more points than these.
constexpr int64_t kMostColumn = 256;

/// Rest of n without its small prime factors; f is told those.
template <class F>
int64_t without_factors(int64_t n, const F& f) {
  for (const int64_t radix : {8, 4, 2, 3, 5})
    for (; n % radix == 0; n /= radix) f(radix);
  for (int64_t radix = 7; radix <= kLargestRadix && n > 1; radix += 2)
    for (; n % radix == 0; n /= radix) f(radix);
  return n;
}

}  // namespace

bool is_smooth(int64_t n) {
  return without_factors(n, [](int64_t) {}) == 1;
}

std::vector<uint32_t> radices(int64_t n) {
  std::vector<uint32_t> out;
  without_factors(n, [&](int64_t radix) { out.push_back(uint32_t(radix)); });
  return out;
}

int64_t good_length(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (int64_t five = 1; five < best; five *= 5)
    for (int64_t three = five; three < best; three *= 3) {
      int64_t two = three;
      while (two < n) two *= 2;
      best = std::min(best, two);
    }
  return best;
}

int64_t split(int64_t n, uint32_t item) {
  const int64_t most = fft_most_points(item);
  if (n <= most) return 0;
  // The larger the better for what is left, but what is left may be anything
  // that a block holds: then such that both are alike.
  int64_t best = 1;
  for (int64_t d = 2; d <= kMostColumn; ++d) {
    if (n % d != 0) continue;
    best = d;
    if (n / d <= most && d * d >= n) break;
  }
  return best;
}

uint32_t lines_of_block(int64_t n, int64_t total, uint32_t item) {
  const int64_t points = fft_most_points(item);
  const int64_t lines = std::clamp<int64_t>(points / n, 1, kBlock);
  // Few lines are for many blocks.
  const int64_t shared = std::max<int64_t>(1, total / 128);
  return uint32_t(std::min({lines, shared, total}));
}

}  // namespace hotaru::cuda::fft
