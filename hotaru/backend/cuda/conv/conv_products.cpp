#include "hotaru/backend/cuda/conv/conv_products.h"

#include <algorithm>

#include "hotaru/backend/cuda/create/move.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/matmul/multiply.h"

namespace hotaru::cuda {
namespace {

// Columns at a time: they stay in a large device's second-level cache.
constexpr int64_t kMostBytes = int64_t{32} << 20;
// Of a weight's gradient, all samples of which are one product.
constexpr int64_t kMostWeightBytes = int64_t{512} << 20;
// Below these a thread for each output has less to do than the copy.
constexpr int64_t kLeastRows = 8, kLeastDepth = 16, kLeastColumns = 16;
constexpr int64_t kMostGroups = 16;
// Positions of which strides leave one: zeros that are multiplied, too.
constexpr int64_t kMostSkipped = 4;

constinit const Functions forward_columns("Im2col"),
    across_columns("Im2colAcross"), back_columns("BackColumns");

bool is_worth(const ConvSizes& s, int64_t rows, int64_t depth,
              int64_t columns) {
  return rows >= kLeastRows && depth >= kLeastDepth &&
         columns >= kLeastColumns && s.groups <= kMostGroups;
}

/// Whether x, as it lies there, is its own columns.
bool is_product(const ConvParams& p) {
  for (size_t d = 0; d < 3; ++d)
    if (p.w[d].divisor != 1 || p.stride[d].divisor != 1 || p.padding[d] != 0)
      return false;
  return true;
}

/// Columns from what lies at `from`.
void fill(const Functions& functions, ConvParams p, const void* from,
          void* columns, int64_t numel, size_t item) {
  p.a = from;
  p.out = columns;
  p.numel = uint32_t(numel);
  launch(functions.of_size(item), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

const void* moved(const void* p, int64_t bytes) {
  return p ? static_cast<const char*>(p) + bytes : p;
}
void* moved(void* p, int64_t bytes) {
  return static_cast<char*>(p) + bytes;
}

/// to[i, j, k] = from[i, j, k] of a tensor whose first two dimensions were
/// swapped: [j, i, k] in memory, of `batch` tensors.
void swap_dims(void* to, const void* from, int64_t batch, int64_t i, int64_t j,
               int64_t k, int64_t item) {
  Geometry<2>::Steps steps{};
  steps[0] = {i * j * k * item, i * j * k * item};
  steps[1] = {j * k * item, k * item};
  steps[2] = {k * item, i * k * item};
  steps[3] = {item, item};
  move_elements(
      Geometry<2>::over({static_cast<char*>(to),
                         const_cast<char*>(static_cast<const char*>(from))},
                        Dims{batch, i, j, k}, steps),
      size_t(item));
}

struct ProductSizes {
  int64_t rows, depth, columns;
};

/// Samples [n, n + count) of p.out [samples, groups, rows, columns], with
/// p.bias [groups, rows]: weight [groups, rows, depth] times what stands in
/// `columns` [count, groups, depth, columns].
void multiply_columns(const ConvParams& p, int64_t groups, ProductSizes size,
                      const void* weight, const void* columns, int64_t n,
                      int64_t count, DType dtype) {
  const auto item = int64_t(itemsize(dtype));
  const int64_t of_group = size.rows * size.columns;
  for (int64_t g = 0; g < groups; ++g) {
    MatmulParams m;
    m.batch = count;
    m.m = uint32_t(size.rows), m.n = uint32_t(size.columns);
    m.k = uint32_t(size.depth);
    m.a = moved(weight, g * size.rows * size.depth * item);
    m.a_at = {0, size.depth, 1};
    m.b = moved(columns, g * size.depth * size.columns * item);
    m.b_at = {groups * size.depth * size.columns, size.columns, 1};
    m.out = moved(p.out, (n * groups + g) * of_group * item);
    m.out_row = size.columns;
    m.out_batch = groups * of_group;
    m.bias = moved(p.bias, g * size.rows * item);
    m.bias_at = {0, 1, 0};
    m.beta = 1;
    multiply(m, dtype);
  }
}

}  // namespace

bool forward_by_products(const ConvParams& p, const ConvSizes& s, DType dtype) {
  const auto item = int64_t(itemsize(dtype));
  const int64_t depth = s.in * s.taps, positions = volume(p.y);
  const int64_t of_sample = s.groups * depth * positions;
  if (!is_worth(s, s.out, depth, positions) || of_sample >= kMostElements)
    return false;
  const bool direct = is_product(p);
  const int64_t together =
      direct
          ? s.samples
          : std::clamp<int64_t>(kMostBytes / (of_sample * item), 1, s.samples);
  const Workspace room(direct ? 0 : size_t(together * of_sample * item));
  const int64_t x_size = s.groups * s.in * volume(p.x);
  for (int64_t n = 0; n < s.samples; n += together) {
    const int64_t count = std::min(together, s.samples - n);
    const void* columns = moved(p.a, n * x_size * item);
    if (!direct) {
      fill(forward_columns, p, columns, room.data(), count * of_sample,
           size_t(item));
      columns = room.data();
    }
    multiply_columns(p, s.groups, {s.out, depth, positions}, p.b, columns, n,
                     count, dtype);
  }
  return true;
}

bool data_by_products(const ConvParams& p, const ConvSizes& s, DType dtype) {
  const auto item = int64_t(itemsize(dtype));
  const int64_t depth = s.out * s.taps, positions = volume(p.x);
  const int64_t of_sample = s.groups * depth * positions;
  if (!is_worth(s, s.in, depth, positions) || of_sample >= kMostElements ||
      volume(p.stride) > kMostSkipped)
    return false;
  const int64_t together =
      std::clamp<int64_t>(kMostBytes / (of_sample * item), 1, s.samples);
  const Workspace room(size_t(together * of_sample * item));
  // [groups, in, out, taps]
  const Workspace weight(size_t(s.groups * s.in * depth * item));
  swap_dims(weight.data(), p.b, s.groups, s.in, s.out, s.taps, item);
  const int64_t y_size = s.groups * s.out * volume(p.y);
  for (int64_t n = 0; n < s.samples; n += together) {
    const int64_t count = std::min(together, s.samples - n);
    fill(back_columns, p, moved(p.a, n * y_size * item), room.data(),
         count * of_sample, size_t(item));
    multiply_columns(p, s.groups, {s.in, depth, positions}, weight.data(),
                     room.data(), n, count, dtype);
  }
  return true;
}

bool weight_by_products(const ConvParams& p, const ConvSizes& s, DType dtype) {
  const auto item = int64_t(itemsize(dtype));
  const int64_t columns = s.in * s.taps, positions = volume(p.y);
  const int64_t depth = s.samples * positions;
  const int64_t all = s.groups * columns * depth;
  if (!is_worth(s, s.out, depth, columns) || all >= kMostElements ||
      all * item > kMostWeightBytes || p.bias)
    return false;
  const Workspace room(size_t(all * item));
  ConvParams windows = p;
  windows.samples = Divider(uint32_t(s.samples));
  fill(across_columns, windows, p.b, room.data(), all, size_t(item));
  // y by channels: [groups, out, samples, positions].
  const bool lies_so = s.samples == 1;
  const int64_t channels = s.groups * s.out;
  const Workspace turned(lies_so ? 0 : size_t(channels * depth * item));
  if (!lies_so)
    swap_dims(turned.data(), p.a, 1, channels, s.samples, positions, item);
  const void* const y = lies_so ? p.a : turned.data();
  for (int64_t g = 0; g < s.groups; ++g) {
    MatmulParams m;
    m.m = uint32_t(s.out), m.n = uint32_t(columns), m.k = uint32_t(depth);
    m.a = moved(y, g * s.out * depth * item);
    m.a_at = {0, depth, 1};
    m.b = moved(room.data(), g * columns * depth * item);
    m.b_at = {0, 1, depth};
    m.out = moved(p.out, g * s.out * columns * item);
    m.out_row = columns;
    m.out_batch = s.out * columns;
    multiply(m, dtype);
  }
  return true;
}

}  // namespace hotaru::cuda
