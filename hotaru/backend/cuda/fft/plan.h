// How Fourier transforms of a length are cut into what blocks can do; computed
// without a device.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/cuda/params/fft.h"

namespace hotaru::cuda::fft {

/// Dimension of columns in positions, or of batches in bytes.
struct Dim {
  int64_t size = 1, from = 0, to = 0;
};

/// Parameters of a transform; see params/fft.h. Dimensions innermost first.
struct Lines {
  int64_t n = 1;
  FftSide source, target;
  std::vector<Dim> columns, batch;
};

inline int64_t count_of(const std::vector<Dim>& dims) {
  int64_t count = 1;
  for (const Dim& d : dims) count *= d.size;
  return count;
}

/// Tells whether n has no prime factor that is too large for a pass of its own.
bool is_smooth(int64_t n);

/// The passes over n points that is_smooth().
std::vector<uint32_t> radices(int64_t n);

/// The least product of 2, 3 and 5 that is at least n.
int64_t good_length(int64_t n);

/// 0 if a block can transform n points, each a complex number of `item` bytes;
/// else n1 of columns: a divisor of n that a block has several lines of.
int64_t split(int64_t n, uint32_t item);

/// Lines of a block.
uint32_t lines_of_block(int64_t n, int64_t total, uint32_t item);

}  // namespace hotaru::cuda::fft
