// Parameters of choosing among overlapping boxes, and how it is launched, for
// stretches of boxes one after another.
//
//   NmsCover_<suffix>   which boxes behind it each box of the stretch covers
//     grid         words x ceil(rows / kBlock) blocks of kBlock threads, one a
//                  box; each compares it with the kNmsWord boxes of a word
//   NmsKeep_<bytes>     which boxes of the stretch stay, in order
//     grid         one block of kBlock threads
//   parameters   NmsParams
//   shared       of fixed size
//
// Suffixes are those of params/types.h; NmsKeep's only size is 8, a word's.
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Boxes of a word of bits.
inline constexpr int64_t kNmsWord = 64;
/// Words of `covered` at most: 64 MiB.
inline constexpr int64_t kNmsMostWords = int64_t{1} << 23;

/// See common/vision/regions.h.
struct NmsParams {
  const void* boxes = nullptr;
  /// Of all boxes, and of the stretch: its first one, a multiple of kNmsWord,
  /// and how many it has.
  int64_t numel = 0, first = 0, rows = 0;
  /// Words for all boxes.
  int64_t words = 0;
  /// [rows, words]; words before a box's own are not written.
  unsigned long long* covered = nullptr;
  /// Boxes that fell, of which the first stretch finds none.
  unsigned long long* fallen = nullptr;
  int64_t *kept = nullptr, *count = nullptr;
  double limit = 0;
};

/// Boxes of a stretch: as many as `covered` has room for.
constexpr int64_t nms_rows(int64_t words, int64_t most_words) {
  const int64_t rows = most_words / words / kNmsWord * kNmsWord;
  return rows > kNmsWord ? rows : kNmsWord;
}

}  // namespace hotaru::cuda
