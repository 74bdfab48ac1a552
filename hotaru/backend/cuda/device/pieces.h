// A line of elements that a team of threads reads and writes piece by piece.
#pragma once

#include "hotaru/backend/cuda/device/block.h"

namespace hotaru::cuda {

/// Elements that a thread reads at once: 16 bytes.
template <class T>
constexpr uint32_t kPieceLength = 16 / sizeof(Stored<T>);

/// Pieces, each of which all threads of the team have together; one of them has
/// kLength elements, kPieceLength where nothing else is said: side by side with
/// `vectors` (lines begin at multiples of 16 bytes), else `lanes` apart.
struct Pieces {
  uint32_t lane, lanes, length;
  bool vectors;

  /// Elements of a piece; pieces begin at its multiples.
  template <class T, uint32_t kLength = kPieceLength<T>>
  __device__ uint32_t tile() const {
    return lanes * kLength;
  }
  /// This thread's first element, and how far they are apart.
  template <class T, uint32_t kLength = kPieceLength<T>>
  __device__ uint32_t begin(uint32_t from) const {
    return from + (vectors ? lane * kLength : lane);
  }
  __device__ uint32_t apart() const { return vectors ? 1 : lanes; }

  /// Reads x; what lies past the end is `missing`. step: bytes. whole: whether
  /// this line can be read by vectors; only with `vectors`.
  template <class T, uint32_t kLength = kPieceLength<T>>
  __device__ void read(OpMath<T>* x, const char* line, int64_t step,
                       uint32_t from, OpMath<T> missing, bool whole) const {
    const uint32_t first = begin<T, kLength>(from);
    if (whole && first + kLength <= length) {
      const auto v = load_vector<Vector<T, kLength>>(
          line + int64_t(first) * int64_t(sizeof(Stored<T>)));
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kLength; ++j) x[j] = widen<T>(v.at[j]);
      return;
    }
    const char* at = line + int64_t(first) * step;
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j, at += int64_t(apart()) * step)
      x[j] = first + j * apart() < length ? load<T>(at) : missing;
  }
  template <class T>
  __device__ void read(OpMath<T>* x, const char* line, int64_t step,
                       uint32_t from, OpMath<T> missing) const {
    read<T>(x, line, step, from, missing, vectors);
  }
  template <class T, uint32_t kLength = kPieceLength<T>>
  __device__ void write(const OpMath<T>* x, char* line, int64_t step,
                        uint32_t from, bool whole) const {
    const uint32_t first = begin<T, kLength>(from);
    if (whole && first + kLength <= length) {
      Vector<T, kLength> v;
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kLength; j += 2)
        narrow_pair<T>(v, j, x[j], x[j + 1]);
      store_vector(line + int64_t(first) * int64_t(sizeof(Stored<T>)), v);
      return;
    }
    char* at = line + int64_t(first) * step;
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j, at += int64_t(apart()) * step)
      if (first + j * apart() < length) store<T>(at, x[j]);
  }
  template <class T>
  __device__ void write(const OpMath<T>* x, char* line, int64_t step,
                        uint32_t from) const {
    write<T>(x, line, step, from, vectors);
  }
};

}  // namespace hotaru::cuda
