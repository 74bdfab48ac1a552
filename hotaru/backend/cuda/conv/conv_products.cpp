#include "hotaru/backend/cuda/conv/conv_products.h"

#include <algorithm>

#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/matmul/multiply.h"

namespace hotaru::cuda {
namespace {

// Columns at a time: they stay in a large device's second-level cache.
constexpr int64_t kMostBytes = int64_t{32} << 20;
// Below these a thread for each output has less to do than the copy.
constexpr int64_t kLeastOutputs = 8, kLeastDepth = 16, kLeastPositions = 16;
constexpr int64_t kMostGroups = 16;

/// Whether x, as it lies there, is its own columns.
bool is_product(const ConvParams& p) {
  for (size_t d = 0; d < 3; ++d)
    if (p.w[d].divisor != 1 || p.stride[d].divisor != 1 || p.padding[d] != 0)
      return false;
  return true;
}

void im2col(ConvParams p, const void* x, void* columns, int64_t numel,
            size_t item) {
  static constinit const Functions functions("Im2col");
  p.a = x;
  p.out = columns;
  p.numel = uint32_t(numel);
  launch(functions.of_size(item), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

template <class T>
T* moved(T* p, int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return p ? static_cast<Byte*>(p) + bytes : p;
}

}  // namespace

bool convolve_by_products(const ConvParams& p, const ConvSizes& s,
                          DType dtype) {
  const auto item = int64_t(itemsize(dtype));
  const int64_t of_sample = s.groups * s.depth() * s.positions;
  if (s.out < kLeastOutputs || s.depth() < kLeastDepth ||
      s.positions < kLeastPositions || s.groups > kMostGroups ||
      of_sample >= kMostElements)
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
      im2col(p, columns, room.data(), count * of_sample, size_t(item));
      columns = room.data();
    }
    for (int64_t g = 0; g < s.groups; ++g) {
      MatmulParams m;
      m.batch = count;
      m.m = uint32_t(s.out), m.n = uint32_t(s.positions);
      m.k = uint32_t(s.depth());
      m.a = moved(p.b, g * s.out * s.depth() * item);
      m.a_at = {0, s.depth(), 1};
      m.b = moved(columns, g * s.depth() * s.positions * item);
      m.b_at = {of_sample, s.positions, 1};
      m.out = moved(p.out, (n * s.groups + g) * s.out * s.positions * item);
      m.out_row = s.positions;
      m.out_batch = s.groups * s.out * s.positions;
      m.bias = moved(p.bias, g * s.out * item);
      m.bias_at = {0, 1, 0};
      m.beta = 1;
      multiply(m, dtype);
    }
  }
  return true;
}

}  // namespace hotaru::cuda
