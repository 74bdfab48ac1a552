// Interpolation by the nearest: each output is one input, and the outputs of
// an input are neighbours, so nothing is weighed or divided.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {

/// Along each of three dimensions: the input of each output, not falling.
struct NearestPlan {
  std::array<int64_t, 3> in;
  std::array<std::span<const int64_t>, 3> index;

  int64_t in_rows() const { return in[0] * in[1]; }
  int64_t out_rows() const {
    return int64_t(index[0].size() * index[1].size());
  }
  int64_t width() const { return int64_t(index[2].size()); }
  bool doubles_width() const {
    for (size_t o = 0; o < index[2].size(); ++o)
      if (index[2][o] != int64_t(o / 2)) return false;
    return width() == 2 * in[2];
  }
  /// The input row of an output row of a plane.
  int64_t source(int64_t row) const {
    const auto rows = int64_t(index[1].size());
    return index[0][size_t(row / rows)] * in[1] + index[1][size_t(row % rows)];
  }
  /// The outputs of input i are [first[i], first[i + 1]).
  std::vector<int64_t> ranges(size_t dim) const {
    std::vector<int64_t> first;
    for (int64_t i = 0; i <= in[dim]; ++i)
      first.push_back(std::ranges::lower_bound(index[dim], i) -
                      index[dim].begin());
    return first;
  }
  /// f(row) for `rows` of them, by all threads.
  template <class F>
  void for_rows(int64_t rows, const F& f) const {
    const int64_t size = std::max<int64_t>({1, width(), in[2]});
    parallel_for(0, rows, std::max<int64_t>(1, kGrainSize / size),
                 [&](int64_t begin, int64_t end) { f(begin, end); });
  }
};

template <class T>
void nearest_row(std::span<const int64_t> index, bool doubles,
                 const T* __restrict from, T* __restrict to) {
  const size_t n = index.size();
  if (doubles) {
    for (size_t i = 0; i < n / 2; ++i) to[2 * i] = to[2 * i + 1] = from[i];
    return;
  }
  for (size_t o = 0; o < n; ++o) to[o] = from[index[o]];
}

template <class T>
void nearest_planes(const NearestPlan& plan, int64_t planes, T* out,
                    const T* x) {
  const int64_t rows = plan.out_rows(), width = plan.width();
  const bool doubles = plan.doubles_width();
  plan.for_rows(planes * rows, [&](int64_t begin, int64_t end) {
    const T* before = nullptr;  // the input row that the last one was made of
    for (int64_t r = begin; r < end; ++r) {
      const T* from =
          x + (r / rows * plan.in_rows() + plan.source(r % rows)) * plan.in[2];
      T* to = out + r * width;
      if (from == before)
        std::copy_n(to - width, width, to);
      else
        nearest_row(plan.index[2], doubles, from, to);
      before = from;
    }
  });
}

/// Sums of neighbours: to[i] of row[first[i]] and those before first[i + 1].
template <class T, class A>
void sum_neighbours(const std::vector<int64_t>& first, bool doubles,
                    const A* row, T* to) {
  const auto n = int64_t(first.size()) - 1;
  if (doubles) {
    for (int64_t i = 0; i < n; ++i) to[i] = T(row[2 * i] + row[2 * i + 1]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    A sum = A(0);
    for (int64_t o = first[size_t(i)]; o < first[size_t(i) + 1]; ++o)
      sum += row[o];
    to[i] = T(sum);
  }
}

/// The gradient: each input has the sum of its outputs'.
template <class A, class T>
void nearest_transposed(const NearestPlan& plan, int64_t planes, T* x,
                        const T* out) {
  const int64_t rows = plan.in_rows(), width = plan.width();
  const auto depths = plan.ranges(0), heights = plan.ranges(1),
             widths = plan.ranges(2);
  const bool doubles = plan.doubles_width();
  const auto high = int64_t(plan.index[1].size());
  plan.for_rows(planes * rows, [&](int64_t begin, int64_t end) {
    std::vector<A> sums(size_t(width), A(0));
    for (int64_t r = begin; r < end; ++r) {
      const T* plane = out + r / rows * plan.out_rows() * width;
      const auto z = size_t(r % rows / plan.in[1]),
                 y = size_t(r % rows % plan.in[1]);
      std::fill(sums.begin(), sums.end(), A(0));
      for (int64_t d = depths[z]; d < depths[z + 1]; ++d)
        for (int64_t h = heights[y]; h < heights[y + 1]; ++h) {
          const T* from = plane + (d * high + h) * width;
          A* to = sums.data();
          HOTARU_INDEPENDENT
          for (int64_t o = 0; o < width; ++o) to[o] += A(from[o]);
        }
      sum_neighbours(widths, doubles, sums.data(), x + r * plan.in[2]);
    }
  });
}

}  // namespace hotaru::cpu
