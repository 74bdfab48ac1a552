// Softmax, its logarithm and their gradients, along one dimension. See
// params/softmax.h for how they are launched. The greatest element and the sum
// of exponentials come from one pass (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018).
#include <cmath>
#include <limits>

#include "hotaru/backend/cuda/device/pieces.h"
#include "hotaru/backend/cuda/params/softmax.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// The line of a thread.
struct Line : Pieces {
  Team team;
  bool real;
  int64_t at[1][3];

  __device__ explicit Line(const SoftmaxParams& p)
      : Pieces{0, p.lanes, p.length, p.vectors}, team{p.lanes, p.across} {
    lane = team.lane();
    const uint32_t line = blockIdx.x * team.rows() + team.row();
    real = line < p.lines;
    uint32_t i[1] = {real ? line : 0};
    p.others.find(i, at);
  }
};

/// Greatest element and sum of exponentials less it. Starts from the lowest
/// finite number, so that infinities come out as NaN, or not at all.
template <class A>
struct Online {
  A greatest = std::numeric_limits<A>::lowest();
  A sum = 0;

  template <uint32_t kCount>
  __device__ void take(const A* x) {
    A now = greatest;
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) now = Larger()(x[j], now);
    sum *= std::exp(greatest - now);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kCount; ++j) sum += std::exp(x[j] - now);
    greatest = now;
  }
  __device__ void share(const Team& team, A* memory) {
    const A all = team.share(greatest, memory, Larger());
    sum = team.share(sum * std::exp(greatest - all), memory, Plus());
    greatest = all;
  }
};

template <class T, bool kLog>
__device__ void softmax(const SoftmaxParams& p) {
  using A = OpMath<T>;
  constexpr uint32_t kPieces = kSoftmaxHeld / kPieceLength<T>;
  __shared__ A memory[kBlock];
  const Line line(p);
  const char* in = static_cast<const char*>(p.in) + line.at[0][1];
  char* out = static_cast<char*>(p.out) + line.at[0][0];
  const uint32_t tile = line.tile<T>();
  const A nothing = -std::numeric_limits<A>::infinity();
  Online<A> online;
  const auto result = [&](A* x, A shift, A scale) {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kPieceLength<T>; ++j)
      x[j] = kLog ? x[j] - shift : std::exp(x[j] - shift) * scale;
  };
  if (p.length <= tile * kPieces) {
    A x[kSoftmaxHeld];
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i)
      line.read<T>(x + i * kPieceLength<T>, in, p.in_step, i * tile, nothing);
    online.template take<kSoftmaxHeld>(x);
    online.share(line.team, memory);
    const A shift =
        kLog ? online.greatest + std::log(online.sum) : online.greatest;
    const A scale = A(1) / online.sum;
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i) {
      A* piece = x + i * kPieceLength<T>;
      result(piece, shift, scale);
      if (line.real) line.write<T>(piece, out, p.out_step, i * tile);
    }
    return;
  }
  A x[kPieceLength<T>];
  HOTARU_NO_UNROLL
  for (uint32_t from = 0; from < p.length; from += tile) {
    line.read<T>(x, in, p.in_step, from, nothing);
    online.template take<kPieceLength<T>>(x);
  }
  online.share(line.team, memory);
  const A shift =
      kLog ? online.greatest + std::log(online.sum) : online.greatest;
  const A scale = A(1) / online.sum;
  if (!line.real) return;
  HOTARU_NO_UNROLL
  for (uint32_t from = 0; from < p.length; from += tile) {
    line.read<T>(x, in, p.in_step, from, nothing);
    result(x, shift, scale);
    line.write<T>(x, out, p.out_step, from);
  }
}

/// y (g - sum(g y)), and g - exp(y) sum(g).
template <class T, bool kLog>
__device__ void softmax_grad(const SoftmaxParams& p) {
  using A = OpMath<T>;
  constexpr uint32_t kPieces = kSoftmaxHeld / 2 / kPieceLength<T>;
  __shared__ A memory[kBlock];
  const Line line(p);
  const char* in = static_cast<const char*>(p.in) + line.at[0][1];
  const char* y_line = static_cast<const char*>(p.result) + line.at[0][2];
  char* out = static_cast<char*>(p.out) + line.at[0][0];
  const uint32_t tile = line.tile<T>();
  const auto read = [&](A* g, A* y, uint32_t from) {
    line.read<T>(g, in, p.in_step, from, A(0));
    line.read<T>(y, y_line, p.result_step, from, A(0));
  };
  const auto add = [](A sum, const A* g, const A* y) {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kPieceLength<T>; ++j)
      sum += kLog ? g[j] : g[j] * y[j];
    return sum;
  };
  const auto write = [&](A* g, const A* y, A sum, uint32_t from) {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kPieceLength<T>; ++j)
      g[j] = kLog ? g[j] - std::exp(y[j]) * sum : y[j] * (g[j] - sum);
    if (line.real) line.write<T>(g, out, p.out_step, from);
  };
  if (p.length <= tile * kPieces) {
    A g[kPieces][kPieceLength<T>], y[kPieces][kPieceLength<T>];
    A sum = 0;
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i) read(g[i], y[i], i * tile);
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i) sum = add(sum, g[i], y[i]);
    sum = line.team.share(sum, memory, Plus());
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i) write(g[i], y[i], sum, i * tile);
    return;
  }
  A g[kPieceLength<T>], y[kPieceLength<T>];
  A sum = 0;
  HOTARU_NO_UNROLL
  for (uint32_t from = 0; from < p.length; from += tile) {
    read(g, y, from);
    sum = add(sum, g, y);
  }
  sum = line.team.share(sum, memory, Plus());
  HOTARU_NO_UNROLL
  for (uint32_t from = 0; from < p.length; from += tile) {
    read(g, y, from);
    write(g, y, sum, from);
  }
}

}  // namespace

#define HOTARU_SOFTMAX(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(Softmax_##suffix, SoftmaxParams, softmax<T, false>) \
  HOTARU_CUDA_BLOCK_KERNEL(LogSoftmax_##suffix, SoftmaxParams, \
                           softmax<T, true>) \
  HOTARU_CUDA_BLOCK_KERNEL(SoftmaxGrad_##suffix, SoftmaxParams, \
                           softmax_grad<T, false>) \
  HOTARU_CUDA_BLOCK_KERNEL(LogSoftmaxGrad_##suffix, SoftmaxParams, \
                           softmax_grad<T, true>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_SOFTMAX, )

}  // namespace hotaru::cuda
