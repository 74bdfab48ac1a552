// Convolution of any dtype as a product of matrices over unrolled windows of
// the input ("im2col": K. Chellapilla et al., High performance convolutional
// neural networks for document processing, 2006), a tile of output positions at
// a time so that the windows stay in cache.
#include "hotaru/backend/cpu/conv/unrolled.h"

#include <algorithm>
#include <memory>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/number_types.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// Scratch memory, uninitialised.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t n) : data_(new T[size_t(n)]) {}
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

// f(sample, group) for each, in parallel.
template <class F>
void for_samples(const Geometry& g, const F& f) {
  const int64_t work = g.depth() * g.group_out() * g.out_size();
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, work));
  parallel_for(0, g.n * g.groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / g.groups, i % g.groups);
  });
}

}  // namespace

template <class T>
void unrolled_forward(const Geometry& g, T* y, const T* x, const T* w,
                      const T* bias) {
  const int64_t size = g.out_size(), rows = g.group_out();
  for_samples(g, [&](int64_t n, int64_t group) {
    const T* input = x + (n * g.c + group * g.group_in()) * g.in_size();
    const T* weight = w + group * rows * g.depth();
    T* to = y + (n * g.o + group * rows) * size;
    Epilogue<T> epilogue;
    epilogue.bias = bias ? bias + group * rows : nullptr;
    epilogue.bias_per_row = true;
    Buffer<T> windows(g.pointwise() ? 0 : g.depth() * g.tile());
    for (int64_t at = 0; at < size; at += g.tile()) {
      const int64_t end = std::min(size, at + g.tile()), width = end - at;
      MatrixRef<T> columns{input + at, size, 1};
      if (!g.pointwise()) {
        unroll(g, input, at, end, windows.data());
        columns = {windows.data(), width, 1};
      }
      gemm<T>(rows, width, g.depth(), T(1), {weight, g.depth(), 1}, columns,
              T(0), to + at, size, epilogue);
    }
  });
}

template <class T>
void unrolled_data(const Geometry& g, T* x, const T* y, const T* w,
                   const T* bias) {
  const int64_t size = g.out_size(), rows = g.group_out();
  const int64_t plane = g.in_size();
  for_samples(g, [&](int64_t n, int64_t group) {
    const int64_t first = group * g.group_in();
    const MatrixRef<T> weight{w + group * rows * g.depth(), 1, g.depth()};
    const T* from = y + (n * g.o + group * rows) * size;
    T* to = x + (n * g.c + first) * plane;
    for (int64_t c = 0; c < g.group_in(); ++c)
      std::fill_n(to + c * plane, plane, bias ? bias[first + c] : T(0));
    Buffer<T> windows(g.depth() * g.tile());
    for (int64_t at = 0; at < size; at += g.tile()) {
      const int64_t end = std::min(size, at + g.tile()), width = end - at;
      gemm<T>(g.depth(), width, rows, T(1), weight, {from + at, size, 1}, T(0),
              windows.data(), width);
      roll_up(g, windows.data(), at, end, to);
    }
  });
}

template <class T>
void unrolled_weight(const Geometry& g, T* w, const T* y, const T* x) {
  const int64_t size = g.out_size(), rows = g.group_out();
  // Groups are independent; the samples of one are summed in order.
  parallel_for(0, g.groups, 1, [&](int64_t begin, int64_t end) {
    Buffer<T> windows(g.depth() * g.tile());
    for (int64_t group = begin; group < end; ++group) {
      T* to = w + group * rows * g.depth();
      std::fill_n(to, rows * g.depth(), T(0));
      for (int64_t n = 0; n < g.n; ++n) {
        const T* input = x + (n * g.c + group * g.group_in()) * g.in_size();
        const T* from = y + (n * g.o + group * rows) * size;
        for (int64_t at = 0; at < size; at += g.tile()) {
          const int64_t stop = std::min(size, at + g.tile());
          const int64_t width = stop - at;
          unroll(g, input, at, stop, windows.data());
          gemm<T>(rows, g.depth(), width, T(1), {from + at, size, 1},
                  {windows.data(), 1, width}, T(1), to, g.depth());
        }
      }
    }
  });
}

#define HOTARU_INSTANTIATE(T) \
  template void unrolled_forward(const Geometry&, T*, const T*, const T*, \
                                 const T*); \
  template void unrolled_data(const Geometry&, T*, const T*, const T*, \
                              const T*); \
  template void unrolled_weight(const Geometry&, T*, const T*, const T*);
HOTARU_INSTANTIATE(uint8_t)
HOTARU_INSTANTIATE(int8_t)
HOTARU_INSTANTIATE(int16_t)
HOTARU_INSTANTIATE(int32_t)
HOTARU_INSTANTIATE(int64_t)
HOTARU_FOR_WIDE_TYPES(HOTARU_INSTANTIATE)
#undef HOTARU_INSTANTIATE

}  // namespace hotaru::cpu
