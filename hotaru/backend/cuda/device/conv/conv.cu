// Convolution, its gradients and unfolding, each output gathered by a thread or
// a group of them. See params/conv.h for how they are launched. Operands have
// less than 2^31 elements, so that 32 bits count them; what is out of range on
// the way wraps back.
#include "hotaru/backend/common/product.h"
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/device/words.h"
#include "hotaru/backend/cuda/params/conv.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// Type that products are summed in: integers wrap around, as the CPU's do.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, OpMath<T>>;

template <class T>
__device__ Sum<T> value(const void* base, uint32_t i) {
  const OpMath<T> x = load<T>(static_cast<const Stored<T>*>(base) + i);
  if constexpr (std::is_integral_v<T>)
    return uint64_t(int64_t(x));
  else
    return x;
}
template <class T>
__device__ void put(void* base, uint32_t i, Sum<T> x) {
  store<T>(static_cast<Stored<T>*>(base) + i, OpMath<T>(x));
}

/// Position i of planes that lie one after the other, and its plane.
struct Place {
  int32_t at[3];
  uint32_t plane;

  __device__ Place(const Divider (&side)[3], uint32_t i) {
    HOTARU_UNROLL
    for (int d = 2; d >= 0; --d) {
      const uint32_t above = side[d].divide(i);
      at[d] = int32_t(i - above * side[d].divisor);
      i = above;
    }
    plane = i;
  }
};

/// Plane number i of [samples, groups, channels].
struct Channel {
  uint32_t sample_group, group, channel;

  __device__ Channel(const ConvParams& p, Divider channels, uint32_t i)
      : sample_group(channels.divide(i)),
        group(sample_group - p.groups.divide(sample_group) * p.groups.divisor),
        channel(i - sample_group * channels.divisor) {}
};

/// Bias of the channel, or 0.
template <class T>
__device__ Sum<T> begin(const ConvParams& p, const Channel& c,
                        Divider channels) {
  return p.bias ? value<T>(p.bias, c.group * channels.divisor + c.channel)
                : Sum<T>(0);
}

/// Positions of the kernel along a dimension that lie within x.
struct Taps {
  int32_t begin, end, first;

  __device__ Taps(const ConvParams& p, const Place& y, int d) {
    const int32_t step = p.dilation[d], size = int32_t(p.w[d].divisor);
    first = y.at[d] * int32_t(p.stride[d].divisor) - p.padding[d];
    begin = first < 0 ? (step - 1 - first) / step : 0;
    const int32_t room = int32_t(p.x[d].divisor) - first;
    end = room <= 0 ? 0 : (room - 1) / step + 1;
    if (end > size) end = size;
  }
};

template <class T>
__device__ void conv_forward(const ConvParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const Place y(p.y, i);
  const Channel o(p, p.out_channels, y.plane);
  const Taps z(p, y, 0), h(p, y, 1), w(p, y, 2);
  const uint32_t x_size = volume(p.x), taps = volume(p.w);
  const uint32_t filter = o.group * p.y_channels + o.channel;
  Sum<T> sum = begin<T>(p, o, p.out_channels);
  HOTARU_NO_UNROLL
  for (uint32_t c = 0; c < p.x_channels; ++c) {
    const uint32_t from = (o.sample_group * p.x_channels + c) * x_size;
    const uint32_t weight = (filter * p.x_channels + c) * taps;
    HOTARU_NO_UNROLL
    for (int32_t k = z.begin; k < z.end; ++k) {
      HOTARU_NO_UNROLL
      for (int32_t l = h.begin; l < h.end; ++l) {
        const uint32_t row =
            (uint32_t(z.first + k * p.dilation[0]) * p.x[1].divisor + h.first +
             l * p.dilation[1]) *
                p.x[2].divisor +
            w.first;
        const uint32_t tap =
            weight + (uint32_t(k) * p.w[1].divisor + l) * p.w[2].divisor;
        for (int32_t m = w.begin; m < w.end; ++m)
          sum += product(value<T>(p.a, from + row + m * p.dilation[2]),
                         value<T>(p.b, tap + m));
      }
    }
  }
  put<T>(p.out, i, sum);
}

/// The y position along a dimension that has x at kernel position k; -1: none.
__device__ inline int32_t origin(const ConvParams& p, const Place& x, int d,
                                 int32_t k) {
  const int32_t reach = x.at[d] + p.padding[d] - k * p.dilation[d];
  if (reach < 0) return -1;
  const uint32_t at = p.stride[d].divide(uint32_t(reach));
  const bool exact = at * p.stride[d].divisor == uint32_t(reach);
  return exact && at < p.y[d].divisor ? int32_t(at) : -1;
}

/// f(position in y's plane, position in the kernel) for each pair that x has.
template <class F>
__device__ void for_origins(const ConvParams& p, const Place& x, const F& f) {
  HOTARU_NO_UNROLL
  for (int32_t k = 0; k < int32_t(p.w[0].divisor); ++k) {
    const int32_t z = origin(p, x, 0, k);
    if (z < 0) continue;
    HOTARU_NO_UNROLL
    for (int32_t l = 0; l < int32_t(p.w[1].divisor); ++l) {
      const int32_t h = origin(p, x, 1, l);
      if (h < 0) continue;
      HOTARU_NO_UNROLL
      for (int32_t m = 0; m < int32_t(p.w[2].divisor); ++m) {
        const int32_t w = origin(p, x, 2, m);
        if (w < 0) continue;
        f((uint32_t(z) * p.y[1].divisor + h) * p.y[2].divisor + w,
          (uint32_t(k) * p.w[1].divisor + l) * p.w[2].divisor + m);
      }
    }
  }
}

template <class T>
__device__ void conv_data(const ConvParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const Place x(p.x, i);
  const Channel c(p, p.in, x.plane);
  const uint32_t y_size = volume(p.y), taps = volume(p.w);
  const uint32_t from = c.sample_group * p.y_channels * y_size;
  const uint32_t weight =
      (c.group * p.y_channels * p.x_channels + c.channel) * taps;
  Sum<T> sum = begin<T>(p, c, p.in);
  for_origins(p, x, [&](uint32_t y, uint32_t tap) {
    uint32_t a = from + y, b = weight + tap;
    HOTARU_NO_UNROLL
    for (uint32_t o = 0; o < p.y_channels; ++o) {
      sum += product(value<T>(p.a, a), value<T>(p.b, b));
      a += y_size;
      b += p.x_channels * taps;
    }
  });
  put<T>(p.out, i, sum);
}

template <class A>
struct Plus {
  __device__ static A combine(A a, A b) { return a + b; }
};

template <class T>
__device__ void conv_weight(const ConvParams& p) {
  alignas(16) __shared__ unsigned char memory[kBlock / kWarp * sizeof(Sum<T>)];
  const Team team{p.lanes, false};
  const uint32_t i = blockIdx.x * team.rows() + team.row();
  const bool real = i < p.numel;
  const Place tap(p.w, real ? i : 0);
  // Weights are [groups, y_channels, x_channels].
  const uint32_t filter = p.in.divide(tap.plane);
  const uint32_t c = tap.plane - filter * p.in.divisor;
  const uint32_t group = p.out_channels.divide(filter);
  const uint32_t o = filter - group * p.out_channels.divisor;
  const uint32_t x_size = volume(p.x), y_size = volume(p.y);
  const uint32_t count = real ? uint32_t(p.batch * y_size) : 0;
  Sum<T> sum = 0;
  HOTARU_NO_UNROLL
  for (uint32_t e = team.lane(); e < count; e += p.lanes) {
    const Place y(p.y, e);
    uint32_t from = 0, to = 0;
    bool inside = true;
    HOTARU_UNROLL
    for (int d = 0; d < 3; ++d) {
      const int32_t at = y.at[d] * int32_t(p.stride[d].divisor) - p.padding[d] +
                         tap.at[d] * p.dilation[d];
      inside &= uint32_t(at) < p.x[d].divisor;
      from = from * p.x[d].divisor + at;
      to = to * p.y[d].divisor + y.at[d];
    }
    if (!inside) continue;
    const uint32_t sample_group = y.plane * p.groups.divisor + group;
    sum += product(
        value<T>(p.a, (sample_group * p.y_channels + o) * y_size + to),
        value<T>(p.b, (sample_group * p.x_channels + c) * x_size + from));
  }
  sum = combine_group<Plus<Sum<T>>>(sum, p.lanes,
                                    reinterpret_cast<Sum<T>*>(memory));
  if (real && team.lane() == 0) put<T>(p.out, i, sum);
}

/// Element that a position of the kernel meets in x, from its plane `from` on;
/// 0 beside it.
template <class Word>
__device__ Word met(const ConvParams& p, const Place& y, const Place& tap,
                    uint32_t from) {
  bool inside = true;
  HOTARU_UNROLL
  for (int d = 0; d < 3; ++d) {
    const int32_t at = y.at[d] * int32_t(p.stride[d].divisor) - p.padding[d] +
                       tap.at[d] * p.dilation[d];
    inside &= uint32_t(at) < p.x[d].divisor;
    from = from * p.x[d].divisor + at;
  }
  return inside ? static_cast<const Word*>(p.a)[from] : Word{};
}

/// Columns are [samples and channels, kernel, y].
template <class Word>
__device__ void im2col(const ConvParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const Place y(p.y, i), tap(p.w, y.plane);
  static_cast<Word*>(p.out)[i] = met<Word>(p, y, tap, tap.plane);
}

template <class T>
__device__ void col2im(const ConvParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const Place x(p.x, i);
  const uint32_t y_size = volume(p.y);
  const uint32_t first = x.plane * volume(p.w);
  Sum<T> sum = 0;
  for_origins(p, x, [&](uint32_t y, uint32_t tap) {
    sum += value<T>(p.a, (first + tap) * y_size + y);
  });
  put<T>(p.out, i, sum);
}

template <class T>
__device__ void add_channels(const ChannelBiasParams& p) {
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= p.numel) return;
  const uint32_t plane = p.space.divide(i);
  const uint32_t c = plane - p.channels.divide(plane) * p.channels.divisor;
  put<T>(p.out, i, value<T>(p.out, i) + value<T>(p.bias, c));
}

}  // namespace

#define HOTARU_ADD_CHANNELS(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(AddChannels_##suffix, ChannelBiasParams, add_channels<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_ADD_CHANNELS, )

#define HOTARU_CONV(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(ConvForward_##suffix, ConvParams, conv_forward<T>) \
  HOTARU_CUDA_KERNEL(ConvData_##suffix, ConvParams, conv_data<T>) \
  HOTARU_CUDA_BLOCK_KERNEL(ConvWeight_##suffix, ConvParams, conv_weight<T>) \
  HOTARU_CUDA_KERNEL(Col2im_##suffix, ConvParams, col2im<T>)
    HOTARU_DEVICE_TYPES_NumberTypes(HOTARU_CONV, )

#define HOTARU_COLUMNS(bytes, Word) \
  HOTARU_CUDA_KERNEL(Im2col_##bytes, ConvParams, im2col<Word>)
        HOTARU_COLUMNS(2, uint16_t) HOTARU_COLUMNS(4, uint32_t)
            HOTARU_COLUMNS(8, uint64_t)
                HOTARU_CUDA_KERNEL(Im2col_1, ConvParams, im2col<uint8_t>)
                    HOTARU_CUDA_KERNEL(Im2col_16, ConvParams, im2col<Word16>)

}  // namespace hotaru::cuda
