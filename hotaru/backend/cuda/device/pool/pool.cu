// Maximum pooling, and elements by their positions in planes. See params/pool.h
// for how they are launched.
#include <limits>

#include "hotaru/backend/cuda/device/atomic.h"
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/pool/windows.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// The largest element of a window so far: the first of equals, except that the
/// last NaN beats everything.
template <class T>
struct Largest {
  OpMath<T> value;
  int64_t at;

  __device__ explicit Largest(int64_t first) : at(first) {
    using Limits = std::numeric_limits<OpMath<T>>;
    if constexpr (kIsFloating<T>)
      value = -Limits::infinity();
    else
      value = Limits::lowest();
  }
  __device__ void take(OpMath<T> x, int64_t i) {
    if (!(x > value) && !is_nan<T>(x)) return;
    value = x;
    at = i;
  }
};

struct Window {
  int64_t begin, end, step;
};

__device__ inline Window window_of(const PoolParams& p, int d, uint32_t o) {
  const PoolAxis& a = p.axis[d];
  const int64_t side = a.x.divisor;
  if (p.adaptive) {
    const PoolRange r = adaptive_range(o, a.x.divisor, a.y.divisor);
    return {r.begin, r.end, 1};
  }
  const int64_t start = o * a.stride - a.padding;
  const int64_t end = start + (a.kernel - 1) * a.dilation + 1;
  const int64_t skipped = start < 0 ? (a.dilation - 1 - start) / a.dilation : 0;
  return {start + skipped * a.dilation, end < side ? end : side, a.dilation};
}

/// Looks at the windows in row-major order.
template <class T>
__device__ Largest<T> largest(const PoolParams& p, const Stored<T>* x,
                              const Window& z, const Window& h,
                              const Window& w) {
  const int64_t rows = p.axis[1].x.divisor, columns = p.axis[2].x.divisor;
  // Where the window begins: the answer if it holds nothing but padding.
  const auto first = [](const Window& v, const PoolAxis& a) {
    return v.begin < a.x.divisor ? v.begin : a.x.divisor - 1;
  };
  Largest<T> best((first(z, p.axis[0]) * rows + first(h, p.axis[1])) * columns +
                  first(w, p.axis[2]));
  HOTARU_NO_UNROLL
  for (int64_t i = z.begin; i < z.end; i += z.step) {
    HOTARU_NO_UNROLL
    for (int64_t j = h.begin; j < h.end; j += h.step) {
      const int64_t row = (i * rows + j) * columns;
      for (int64_t k = w.begin; k < w.end; k += w.step)
        best.take(load<T>(x + row + k), row + k);
    }
  }
  return best;
}

template <class T>
__device__ void put(const PoolParams& p, uint32_t i, const Largest<T>& best) {
  store<T>(static_cast<Stored<T>*>(p.out) + i, best.value);
  if (p.indices) p.indices[i] = best.at;
}

template <class T>
__device__ void max_pool(const PoolParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const PicturePlace y(p.axis, &PoolAxis::y, i);
  const auto* x = static_cast<const Stored<T>*>(p.in) +
                  plane_begin(p.axis, &PoolAxis::x, y.plane);
  put<T>(p, i,
         largest<T>(p, x, window_of(p, 0, y.at[0]), window_of(p, 1, y.at[1]),
                    window_of(p, 2, y.at[2])));
}

/// Windows spread evenly, shifted by the sample; the last one ends with the
/// side. A sample outside of [0, 1) moves no window out of the side.
template <class A>
__device__ Window fractional_window(const PoolAxis& a, uint32_t o, A sample) {
  const int64_t last = int64_t(a.x.divisor) - a.kernel;
  int64_t begin = last;
  if (o + 1 < a.y.divisor) {
    const A step = A(last) / A(a.y.divisor - 1);
    const A limit = A(std::numeric_limits<int32_t>::max());
    const auto whole = [&](A x) {
      return x > -limit && x < limit ? int64_t(x) : int64_t{0};
    };
    begin = whole((A(o) + sample) * step) - whole(sample * step);
    begin = begin < 0 ? 0 : begin > last ? last : begin;
  }
  return {begin, begin + a.kernel, 1};
}

template <class T>
__device__ void fractional_pool(const PoolParams& p) {
  using A = OpMath<T>;
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const PicturePlace y(p.axis, &PoolAxis::y, i);
  const auto* x = static_cast<const Stored<T>*>(p.in) +
                  plane_begin(p.axis, &PoolAxis::x, y.plane);
  const auto* samples =
      static_cast<const Stored<T>*>(p.samples) + int64_t(y.plane) * p.dims;
  // Two dimensions have the width's sample first.
  const auto window = [&](uint32_t d) {
    const bool deep = p.dims == 3;
    const A sample =
        deep || d > 0 ? load<T>(samples + (deep ? d : 2 - d)) : A(0);
    return fractional_window<A>(p.axis[d], y.at[d], sample);
  };
  put<T>(p, i, largest<T>(p, x, window(0), window(1), window(2)));
}

/// Each element of x looks for the windows whose maximum it is.
template <class T>
__device__ void max_pool_grad(const PoolParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const PicturePlace x(p.axis, &PoolAxis::x, i);
  const int64_t self = i - plane_begin(p.axis, &PoolAxis::x, x.plane);
  const int64_t begin = plane_begin(p.axis, &PoolAxis::y, x.plane);
  const auto* g = static_cast<const Stored<T>*>(p.in) + begin;
  const int64_t* index = p.indices + begin;
  const PoolRange z = windows_of(p, 0, x.at[0]), h = windows_of(p, 1, x.at[1]),
                  w = windows_of(p, 2, x.at[2]);
  OpMath<T> sum = 0;
  HOTARU_NO_UNROLL
  for (int64_t a = z.begin; a < z.end; ++a) {
    HOTARU_NO_UNROLL
    for (int64_t b = h.begin; b < h.end; ++b)
      for (int64_t c = w.begin; c < w.end; ++c) {
        const int64_t o =
            (a * p.axis[1].y.divisor + b) * p.axis[2].y.divisor + c;
        if (index[o] == self) sum += load<T>(g + o);
      }
  }
  store<T>(static_cast<Stored<T>*>(p.out) + i, sum);
}

/// f(position of the index, position in x) for the thread's index; -1 where it
/// is not in its plane.
template <class F>
__device__ void for_index(const PlaneParams& p, const F& f) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const int64_t at = p.index[i];
  if (uint64_t(at) < uint64_t(p.volume))
    return f(i, int64_t(p.plane.divide(i)) * p.volume + at);
  report_error(p.errors, p.dims, at, p.side[0] << 32 | p.side[1], p.side[2]);
  f(i, -1);
}

template <class Word>
__device__ void plane_gather(const PlaneParams& p) {
  for_index(p, [&](uint32_t i, int64_t at) {
    static_cast<Word*>(p.out)[i] =
        at < 0 ? Word{} : static_cast<const Word*>(p.x)[at];
  });
}

template <class Word>
__device__ void plane_place(const PlaneParams& p) {
  for_index(p, [&](uint32_t i, int64_t at) {
    if (at >= 0)
      static_cast<Word*>(p.x)[at] = static_cast<const Word*>(p.out)[i];
  });
}

/// Where plane_scatter() adds.
__device__ void plane_targets(const PlaneParams& p) {
  for_index(p, [&](uint32_t i, int64_t at) {
    p.targets[i] = at < 0 ? kNoTarget : at * p.item;
  });
}

template <class T>
__device__ void plane_scatter(const PlaneParams& p) {
  for_index(p, [&](uint32_t i, int64_t at) {
    if (at >= 0)
      AtomicAdd::at<T>(static_cast<Stored<T>*>(p.x) + at,
                       load<T>(static_cast<const Stored<T>*>(p.out) + i));
  });
}

}  // namespace

#define HOTARU_MAX_POOL(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(MaxPool_##suffix, PoolParams, max_pool<T>)
HOTARU_DEVICE_TYPES_RealTypes(HOTARU_MAX_POOL, )

#define HOTARU_FRACTIONAL_POOL(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(FractionalPool_##suffix, PoolParams, fractional_pool<T>)
    HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_FRACTIONAL_POOL, )

#define HOTARU_TO_PLANES(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(MaxPoolGrad_##suffix, PoolParams, max_pool_grad<T>) \
  HOTARU_CUDA_KERNEL(PlaneScatter_##suffix, PlaneParams, plane_scatter<T>)
        HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_TO_PLANES, )

            HOTARU_CUDA_KERNEL(PlaneTargets, PlaneParams, plane_targets)

#define HOTARU_PLANE_MOVES(bytes, Word) \
  HOTARU_CUDA_KERNEL(PlaneGather_##bytes, PlaneParams, plane_gather<Word>) \
  HOTARU_CUDA_KERNEL(PlanePlace_##bytes, PlaneParams, plane_place<Word>)
                HOTARU_PLANE_MOVES(1, uint8_t) HOTARU_PLANE_MOVES(2, uint16_t)
                    HOTARU_PLANE_MOVES(4, uint32_t)
                        HOTARU_PLANE_MOVES(8, uint64_t)
                            HOTARU_PLANE_MOVES(16, Word16)

}  // namespace hotaru::cuda
