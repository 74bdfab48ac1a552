#include "hotaru/backend/cpu/conv/pair_planes.h"

#include <algorithm>

#include "hotaru/backend/cpu/scratch.h"

namespace hotaru::cpu {
namespace {

// Elements that tiles read behind the last one: a panel's width.
constexpr int64_t kBehind = 32;

int32_t pair_of(int low, int high) {
  return int32_t((uint32_t(low) & 0xFFFFu) | uint32_t(high) << 16);
}

/// A byte in all four of a word.
int32_t four_times(int32_t byte) {
  return int32_t(uint32_t(byte) * 0x01010101u);
}

int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}

}  // namespace

void PairedWindows::pair_weights(const uint8_t* w, int w_flip, int32_t w_zero,
                                 int32_t* to) const {
  const int64_t positions = volume(kernel);
  const Int8Kernels& kernels = int8_kernels();
  if (!along_kernel && positions == 1) {
    auto* values = reinterpret_cast<int16_t*>(to);
    kernels.widen(values, channels, w, w_flip, w_zero);
    if (channels % 2) values[channels] = 0;
    return;
  }
  if (!along_kernel) {
    for (int64_t c = 0; c < channels; c += 2, to += positions) {
      const uint8_t* first = w + c * positions;
      const bool last = c + 1 == channels;
      kernels.pair(to, positions, first, last ? first : first + positions,
                   w_flip, w_zero);
      for (int64_t i = 0; last && i < positions; ++i) to[i] = pair_of(to[i], 0);
    }
    return;
  }
  const int64_t rows = channels * kernel[0] * kernel[1], width = kernel[2];
  const auto value = [&](uint8_t byte) { return (byte ^ w_flip) - w_zero; };
  for (int64_t r = 0; r < rows; ++r, w += width)
    for (int64_t i = 0; i < width; i += 2)
      *to++ = pair_of(value(w[i]), i + 1 < width ? value(w[i + 1]) : 0);
}

int32_t PairedWindows::quad_weights(const uint8_t* w, int w_flip,
                                    int32_t* to) const {
  const int64_t positions = volume(kernel);
  uint32_t sum = 0;
  for (int64_t i = 0; i < channels * positions; ++i)
    sum += uint32_t(int8_t(w[i] ^ w_flip));
  const auto word = [&](const uint8_t* first, int64_t count, int64_t apart) {
    uint32_t out = 0;
    for (int64_t l = 0; l < count; ++l)
      out |= uint32_t(first[l * apart] ^ w_flip) << (8 * l);
    return int32_t(out);
  };
  if (along_kernel) {
    const int64_t rows = channels * kernel[0] * kernel[1], width = kernel[2];
    for (int64_t r = 0; r < rows; ++r, w += width)
      for (int64_t i = 0; i < width; i += 4)
        *to++ = word(w + i, std::min<int64_t>(4, width - i), 1);
  } else {
    for (int64_t c = 0; c < channels; c += 4)
      for (int64_t i = 0; i < positions; ++i)
        *to++ = word(w + c * positions + i, std::min<int64_t>(4, channels - c),
                     positions);
  }
  return int32_t(sum);
}

PairPlanes::PairPlanes(const PairedWindows& windows, const Extents& begin,
                       const Extents& length)
    : w_(windows), begin_(begin), length_(length) {
  const Extents taps = w_.taps();
  std::array<std::vector<int64_t>, 3> plane_of, shift_of;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t step =
        w_.dilation[d] * (d == 2 && w_.along_kernel ? w_.lanes : 1);
    int64_t most = 0;
    for (int64_t t = 0; t < taps[d]; ++t) {
      const int64_t at = t * step, remainder = at % w_.stride[d];
      auto& known = remainders_[d];
      const auto found = std::find(known.begin(), known.end(), remainder);
      plane_of[d].push_back(found - known.begin());
      if (found == known.end()) known.push_back(remainder);
      shift_of[d].push_back(at / w_.stride[d]);
      most = std::max(most, shift_of[d].back());
    }
    plane_[d] = length_[d] + most;
  }
  offsets_.reserve(size_t(w_.pairs()));
  const auto counts = [&](size_t d) { return int64_t(remainders_[d].size()); };
  const auto at = [](const auto& list, int64_t i) { return list[size_t(i)]; };
  for (int64_t c = 0; c < w_.paired_channels(); ++c)
    for (int64_t i = 0; i < taps[0]; ++i)
      for (int64_t j = 0; j < taps[1]; ++j)
        for (int64_t k = 0; k < taps[2]; ++k) {
          const int64_t plane =
              ((c * counts(0) + at(plane_of[0], i)) * counts(1) +
               at(plane_of[1], j)) *
                  counts(2) +
              at(plane_of[2], k);
          const int64_t inside =
              (at(shift_of[0], i) * plane_[1] + at(shift_of[1], j)) *
                  plane_[2] +
              at(shift_of[2], k);
          offsets_.push_back(plane * volume(plane_) + inside);
        }
}

int64_t PairPlanes::size() const {
  return w_.paired_channels() *
             int64_t(remainders_[0].size() * remainders_[1].size() *
                     remainders_[2].size()) *
             volume(plane_) +
         kBehind;
}

int64_t PairPlanes::position(int64_t i) const {
  int64_t row = i / length_[2];
  const int64_t w = i - row * length_[2];
  // Most pictures have two dimensions, and divisions take long.
  if (length_[0] > 1) {
    const int64_t d = row / length_[1];
    row += d * (plane_[1] - length_[1]);
  }
  return row * plane_[2] + w;
}

PairPlanes::Range PairPlanes::inside(int64_t from) const {
  const int64_t n = plane_[2], step = w_.stride[2], size = w_.in[2];
  const auto first = [&](bool none, int64_t distance) {
    return std::clamp<int64_t>(none ? 0 : ceil_div(distance, step), 0, n);
  };
  return {first(from >= 0, -from), first(from >= size, size - from)};
}

/// A row of a plane: element i is of x's positions from + i * stride in the
/// first row and second_shift behind it in the second one (null: none).
void PairPlanes::fill_row(const uint8_t* first, const uint8_t* second,
                          int64_t second_shift, int64_t from,
                          int32_t* to) const {
  const int64_t n = plane_[2], step = w_.stride[2];
  const int64_t from2 = from + second_shift;
  const auto [begin1, end1] = inside(from);
  const auto [begin2, end2] = second ? inside(from2) : Range{0, 0};
  const auto value = [&](bool inside, const uint8_t* row, int64_t at) {
    return inside ? (row[at] ^ w_.flip) - w_.zero : 0;
  };
  const auto slow = [&](int64_t i, int64_t stop) {
    for (; i < stop; ++i)
      to[i] = pair_of(value(i >= begin1 && i < end1, first, from + i * step),
                      value(i >= begin2 && i < end2, second, from2 + i * step));
  };
  // A row alone has its second half taken off again.
  const int64_t left = second ? std::max(begin1, begin2) : begin1;
  const int64_t right = std::max(left, second ? std::min(end1, end2) : end1);
  slow(0, std::min(left, n));
  if (step <= 2 && left < right) {
    const Int8Kernels& kernels = int8_kernels();
    const uint8_t* one = first + (from + left * step);
    const uint8_t* other = second ? second + (from2 + left * step) : one;
    (step == 1 ? kernels.pair : kernels.pair_even)(to + left, right - left, one,
                                                   other, w_.flip, w_.zero);
    for (int64_t i = left; !second && i < right; ++i) to[i] &= 0xFFFF;
  } else {
    slow(left, right);
  }
  slow(right, n);
}

template <class F, class Outside>
void PairPlanes::for_rows(int32_t* to, const F& f,
                          const Outside& outside) const {
  for (int64_t c = 0; c < w_.paired_channels(); ++c)
    for (const int64_t rd : remainders_[0])
      for (const int64_t rh : remainders_[1])
        for (const int64_t rw : remainders_[2])
          for (int64_t d = 0; d < plane_[0]; ++d)
            for (int64_t h = 0; h < plane_[1]; ++h, to += plane_[2]) {
              const int64_t z =
                  (begin_[0] + d) * w_.stride[0] + rd - w_.padding[0];
              const int64_t y =
                  (begin_[1] + h) * w_.stride[1] + rh - w_.padding[1];
              const int64_t from =
                  begin_[2] * w_.stride[2] + rw - w_.padding[2];
              if (z < 0 || z >= w_.in[0] || y < 0 || y >= w_.in[1])
                outside(to);
              else
                f(to, c, (z * w_.in[1] + y) * w_.in[2], from);
            }
  std::fill_n(to, kBehind, 0);
}

void PairPlanes::fill(const uint8_t* x, int32_t* to) const {
  if (w_.lanes == 4) return fill_quads(x, to);
  const int64_t picture = volume(w_.in);
  for_rows(
      to,
      [&](int32_t* at, int64_t c, int64_t row, int64_t from) {
        const uint8_t* first =
            x + (w_.along_kernel ? c : 2 * c) * picture + row;
        const bool second =
            w_.along_kernel ? w_.kernel[2] > 1 : 2 * c + 1 < w_.channels;
        fill_row(first,
                 !second           ? nullptr
                 : w_.along_kernel ? first
                                   : first + picture,
                 w_.along_kernel ? w_.dilation[2] : 0, from, at);
      },
      [&](int32_t* at) { std::fill_n(at, plane_[2], 0); });
}

void PairPlanes::fill_quads(const uint8_t* x, int32_t* to) const {
  const int64_t picture = volume(w_.in);
  for_rows(
      to,
      [&](int32_t* at, int64_t c, int64_t row, int64_t from) {
        Line lines[4];
        for (int64_t l = 0; l < 4; ++l) {
          const int64_t channel = w_.along_kernel ? c : 4 * c + l;
          const bool there =
              w_.along_kernel ? l < w_.kernel[2] : channel < w_.channels;
          lines[l] = {there ? x + channel * picture + row : nullptr,
                      from + (w_.along_kernel ? l * w_.dilation[2] : 0)};
        }
        fill_quad_row(lines, at);
      },
      [&](int32_t* at) { std::fill_n(at, plane_[2], four_times(w_.zero)); });
}

/// Elements are of x's positions from + i * stride, or the zero point.
void PairPlanes::fill_quad_row(const Line (&lines)[4], int32_t* to) const {
  const QuadKernels& kernels = *quad_kernels();
  const int64_t n = plane_[2], step = w_.stride[2];
  const uint8_t* rows[4];
  if (!w_.along_kernel) {
    const int64_t from = lines[0].from;
    const auto [left, end] = inside(from);
    const int64_t right = std::max(left, end);
    std::fill_n(to, left, four_times(w_.zero));
    std::fill_n(to + right, n - right, four_times(w_.zero));
    if (left == right) return;
    for (int l = 0; l < 4; ++l)
      rows[l] = lines[l].row ? lines[l].row + (from + left * step) : nullptr;
    const int64_t dense = (right - left - 1) * step + 1;
    if (step == 1) return kernels.interleave(to + left, dense, rows, w_.flip);
    auto* words = scratch<int32_t>(ScratchUse::kInt8Columns, dense);
    kernels.interleave(words, dense, rows, w_.flip);
    return kernels.each_word(to + left, right - left, words, step);
  }
  // Each line apart; what is flipped in the end is here still as in x.
  auto* whole = scratch<uint8_t>(ScratchUse::kInt8Columns, 4 * n);
  for (int64_t l = 0; l < 4; ++l) {
    uint8_t* line = whole + l * n;
    rows[l] = lines[l].row ? line : nullptr;
    if (!lines[l].row) continue;
    const int64_t from = lines[l].from;
    const auto [left, end] = inside(from);
    const int64_t right = std::max(left, end);
    const auto zero = uint8_t(w_.zero ^ w_.flip);
    std::fill_n(line, left, zero);
    if (left < right)
      kernels.each(line + left, right - left,
                   lines[l].row + (from + left * step), step);
    std::fill_n(line + right, n - right, zero);
  }
  kernels.interleave(to, n, rows, w_.flip);
}

}  // namespace hotaru::cpu
