// Fourier transforms of lines in memory, compiled for each instruction set.
#pragma once

#include <algorithm>
#include <array>

#include "hotaru/backend/cpu/fft/plan.h"

namespace hotaru::cpu::fft {

/// Where the lines of a tile are: T is const where they are read.
template <class T>
struct Lines {
  /// The real part of each line's first point; of `count` lines.
  std::array<T*, 16> line;
  int64_t count;
  /// Elements from point to point, and from the real to the imaginary part:
  /// kReal of real numbers. Both are 0 for pairs of one expanded element.
  int64_t step, imag;
  static constexpr int64_t kReal = -1;
  /// How many points are written, of those that there are; 0: all.
  int64_t points = 0;
};

/// Step between a tile as it is read and as it is written.
enum class Folding : int64_t {
  kNone,
  kFromHalves,  // n points were 2n real ones: n + 1 points come out
  kToHalves,    // the reverse: n + 1 points are read
  kMirrored,    // n / 2 + 1 points are read, the others are their conjugates
  kSwapped,     // nothing; of a transform back, its parts are swapped already
};

/// Elements of working memory that transform_tile needs.
template <class T>
int64_t tile_room(int64_t n) {
  return 2 * 2 * kLanes<T> * (n + 1) + 64;
}

/// Transforms up to kLanes lines by the plan's passes; backwards if `back`. All
/// is read before anything is written.
template <class T>
void transform_tile(const Plan<T>& plan, Folding folding,
                    const Lines<const T>& in, const Lines<T>& out, bool back,
                    T scale, T* room);

/// Elements of working memory that transform_near needs.
template <class T>
int64_t near_room(const Plan<T>& plan) {
  const int64_t n1 = plan.first->n, n2 = plan.second->n;
  const int64_t turned = (n1 + kLanes<T> - 1) / kLanes<T> * n2;
  return 2 * kLanes<T> * (n1 + std::max(n1, n2) + turned) + 64;
}

/// transform_line() by a plan that is `near`, without threads.
template <class T>
void transform_near(const Plan<T>& plan, const T* in, T* out, bool back,
                    T scale, T* room);

/// Transforms one line of complex numbers, side by side as the result is; any
/// plan. May be in place. Uses threads where it pays.
template <class T>
void transform_line(const Plan<T>& plan, const T* in, T* out, bool back,
                    T scale);

/// Completes a transformed line of n real numbers, `step` elements from one to
/// the next: the points after n / 2, which are conjugates of those before.
template <class T>
void mirror_line(T* line, int64_t n, int64_t step);

/// Makes, of n points that were 2n real ones in pairs, the n + 1 that these
/// transform to, times scale. Not in place.
template <class T>
void from_halves(const Plan<T>& plan, const T* in, T* out, T scale);
/// The reverse, before n points are transformed back.
template <class T>
void to_halves(const Plan<T>& plan, const T* in, T* out);

}  // namespace hotaru::cpu::fft
