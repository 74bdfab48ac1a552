// Softmax, its logarithm and their gradients, along one dimension. See
// params/softmax.h for how they are launched.
#include "hotaru/backend/cuda/device/activation/softmax.h"
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
  if (p.length <= tile * kPieces) {
    A x[kSoftmaxHeld];
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i)
      line.read<T>(x + i * kPieceLength<T>, in, p.in_step, i * tile, nothing);
    held_softmax<kLog, kSoftmaxHeld>(line.team, x, memory);
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kPieces; ++i)
      if (line.real)
        line.write<T>(x + i * kPieceLength<T>, out, p.out_step, i * tile);
    return;
  }
  A x[kPieceLength<T>];
  Online<A> online;
  HOTARU_NO_UNROLL
  for (uint32_t from = 0; from < p.length; from += tile) {
    line.read<T>(x, in, p.in_step, from, nothing);
    online.template take<kPieceLength<T>>(x);
  }
  online.share(line.team, memory);
  const SoftmaxResult<kLog, A> result(online);
  if (!line.real) return;
  HOTARU_NO_UNROLL
  for (uint32_t from = 0; from < p.length; from += tile) {
    line.read<T>(x, in, p.in_step, from, nothing);
    result.template put<kPieceLength<T>>(x);
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
