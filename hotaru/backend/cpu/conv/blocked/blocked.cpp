// The kernels on blocked pictures: what they are called with. Convolutions and
// pooling have files of their own.
#include "hotaru/backend/common/conv/blocked.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "hotaru/backend/cpu/conv/amx/blocked_amx.h"
#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/pool/blocked_pool.h"
#include "hotaru/backend/cpu/prepared.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

/// Pixels of a plain or blocked picture.
int64_t pixels_of(const Tensor& blocked) {
  return blocked.size(2) * blocked.size(3);
}

/// f(where the plain channels begin, how many, where the blocked ones do) for
/// each block.
template <class F>
void for_blocks(int64_t n, int64_t channels, int64_t pixels, const F& f) {
  const int64_t blocks = channel_blocks(channels);
  const int64_t size = pixels * kChannelBlock;
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, size));
  parallel_for(0, n * blocks, grain, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) {
      const int64_t first = at % blocks * kChannelBlock;
      f((at / blocks * channels + first) * pixels,
        std::min(kChannelBlock, channels - first), at * size);
    }
  });
}

/// f(where a pixel has a block's channels, how many, the same in blocks) over a
/// picture whose channels lie last.
template <class F>
void for_pixels(const Tensor& rows, const Tensor& blocked, const F& f) {
  const int64_t channels = rows.size(1), pixels = pixels_of(blocked);
  const int64_t blocks = channel_blocks(channels);
  float *p = rows.data<float>(), *to = blocked.data<float>();
  const int64_t grain = std::max<int64_t>(
      1, kGrainSize / std::max<int64_t>(1, pixels * kChannelBlock));
  parallel_for(0, rows.size(0) * blocks, grain, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) {
      const int64_t first = at % blocks * kChannelBlock;
      const int64_t count = std::min(kChannelBlock, channels - first);
      float* one = p + at / blocks * pixels * channels + first;
      float* block = to + at * pixels * kChannelBlock;
      for (int64_t i = 0; i < pixels; ++i)
        f(one + i * channels, count, block + i * kChannelBlock);
    }
  });
}

void block_channels(const KernelCall& call) {
  const Tensor &blocked = call.tensor(0), &plain = call.tensor(1);
  if (!plain.is_contiguous())
    return for_pixels(plain, blocked, [](float* from, int64_t n, float* to) {
      if (n == kChannelBlock)
        std::copy_n(from, kChannelBlock, to);
      else
        std::fill(std::copy_n(from, n, to), to + kChannelBlock, 0.0f);
    });
  block_pictures(plain.data<float>(), plain.size(0), plain.size(1),
                 pixels_of(blocked), blocked.data<float>());
}

void unblock_channels(const KernelCall& call) {
  const Tensor &plain = call.tensor(0), &blocked = call.tensor(1);
  if (!plain.is_contiguous())
    return for_pixels(plain, blocked, [](float* to, int64_t n, float* from) {
      if (n == kChannelBlock)
        std::copy_n(from, kChannelBlock, to);
      else
        std::copy_n(from, n, to);
    });
  unblock_pictures(blocked.data<float>(), plain.size(0), plain.size(1),
                   pixels_of(blocked), plain.data<float>());
}

const float* data_or_null(const Tensor& t) {
  return t.defined() ? t.data<float>() : nullptr;
}

/// Norm of output o: w * scale and shift; as "batch_norm" computes it.
struct Norm {
  explicit Norm(const KernelCall& call)
      : bias(data_or_null(call.tensor(3))),
        mean(data_or_null(call.tensor(4))),
        variance(data_or_null(call.tensor(5))),
        weight(mean ? data_or_null(call.tensor(6)) : nullptr),
        norm_bias(mean ? data_or_null(call.tensor(7)) : nullptr),
        eps(call.attributes<BlockedWeightAttributes>().eps) {}

  float scale(int64_t o) const {
    if (!mean) return 1;
    const float rstd = float(1 / std::sqrt(double(variance[o]) + eps));
    return weight ? rstd * weight[o] : rstd;
  }
  float shift(int64_t o) const {
    const float plain = bias ? bias[o] : 0;
    if (!mean) return plain;
    const float s = scale(o);
    const float shift = -(mean[o] * s) + (norm_bias ? norm_bias[o] : 0);
    return plain * s + shift;
  }

  const float *bias, *mean, *variance, *weight, *norm_bias;
  double eps;
};

void blocked_weight(const KernelCall& call) {
  const Tensor &packed = call.tensor(0), &w = call.tensor(2);
  const auto& a = call.attributes<BlockedWeightAttributes>();
  const Norm norm(call);
  const int64_t outputs = w.size(0), channels = w.size(1);
  int64_t taps = 1;
  for (int64_t i = 2; i < w.dim(); ++i) taps *= w.size(i);
  float* const shift = call.tensor(1).data<float>();
  const float* const from = w.data<float>();
  // Input channels that lie next to each other, in two rows for AMX.
  const bool plain = a.depthwise || a.plain_input;
  const int64_t inner = plain                               ? 1
                        : a.pairs && has_amx_convolutions() ? kAmxChannels
                                                            : kChannelBlock;
  // Columns behind which a zero makes pairs of an odd number; 0: none.
  const int64_t odd =
      a.plain_input && a.pairs && w.sizes().back() % 2 ? w.sizes().back() : 0;
  const int64_t size =
      plain ? blocked_weight_size(w.sizes(), a) / channel_blocks(outputs)
            : round_up(channels, inner) * taps * kChannelBlock;
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, size));
  // put(output, element among those of its block, number)
  const auto pack = [&](int64_t o, const auto& put) {
    const bool real = o < outputs;
    // Where the channels of o's group begin in their block.
    const int64_t skipped =
        plain ? 0 : o * a.groups / outputs * channels % kChannelBlock;
    const float scale = real ? norm.scale(o) : 0;
    shift[o] = real ? norm.shift(o) : 0;
    int64_t at = 0;
    for (int64_t outer = 0; outer < channels; outer += inner)
      for (int64_t t = 0; t < taps; ++t) {
        for (int64_t c = outer; c < outer + inner; ++c, ++at)
          put(at, real && c >= skipped && c < skipped + channels
                      ? from[(o * channels + c - skipped) * taps + t] * scale
                      : 0);
        if (odd && (t + 1) % odd == 0) put(at++, 0);
      }
  };
  parallel_for(0, channel_blocks(outputs), grain, [&](int64_t b, int64_t end) {
    for (; b < end; ++b)
      for (int64_t i = 0; i < kChannelBlock; ++i) {
        const int64_t o = b * kChannelBlock + i;
        if (a.pairs)
          pack(o, [&, half = packed.data<BFloat16>() + b * size](int64_t at,
                                                                 float number) {
            half[(at / 2 * kChannelBlock + i) * 2 + at % 2] = BFloat16(number);
          });
        else
          pack(o, [&, whole = packed.data<float>() + b * size](int64_t at,
                                                               float number) {
            whole[at * kChannelBlock + i] = number;
          });
      }
  });
}

template <BlockedPool (*kMake)(const KernelCall&)>
class PreparedPool final : public PreparedCall {
 public:
  explicit PreparedPool(const KernelCall& call)
      : call_(call), pool_(kMake(call)) {}
  void run() override { pool_.run(call_.tensor(1), call_.tensor(0)); }

 private:
  const KernelCall& call_;
  const BlockedPool pool_;
};

void mean(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1);
  blocked_mean(x.data<float>(), x.size(0), y.size(1), pixels_of(x),
               y.data<float>());
}

void scale(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1);
  const int64_t pixels = pixels_of(x), size = pixels * kChannelBlock;
  const float *from = x.data<float>(), *numbers = call.tensor(2).data<float>();
  float* to = y.data<float>();
  const BlockScale scale_block = block_scale();
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, size));
  parallel_for(0, x.size(0) * x.size(1), grain, [&](int64_t at, int64_t end) {
    for (; at < end; ++at)
      scale_block(from + at * size, numbers + at * kChannelBlock, pixels,
                  to + at * size);
  });
}

HOTARU_KERNEL(kCPU, "block_channels", block_channels);
HOTARU_KERNEL(kCPU, "unblock_channels", unblock_channels);
HOTARU_KERNEL(kCPU, "blocked_weight", blocked_weight);
HOTARU_KERNEL(kCPU, "blocked_mean", mean);
HOTARU_KERNEL(kCPU, "blocked_scale", scale);

const PreparedKernel<prepare_as<PreparedPool<&BlockedPool::maximum>>>
    registered_max_pool("blocked_max_pool");
const PreparedKernel<prepare_as<PreparedPool<&BlockedPool::average>>>
    registered_avg_pool("blocked_avg_pool");

}  // namespace

void block_pictures(const float* plain, int64_t n, int64_t channels,
                    int64_t pixels, float* blocked) {
  const auto transpose = gemm_kernels<float>().pack;
  for_blocks(n, channels, pixels, [&](int64_t p, int64_t used, int64_t b) {
    const float* from = plain + p;
    float* to = blocked + b;
    if (used == kChannelBlock)
      return transpose(to, used, pixels, {from, pixels, 1});
    for (int64_t i = 0; i < pixels; ++i, to += kChannelBlock) {
      for (int64_t c = 0; c < used; ++c) to[c] = from[c * pixels + i];
      std::fill(to + used, to + kChannelBlock, 0.0f);
    }
  });
}

void unblock_pictures(const float* blocked, int64_t n, int64_t channels,
                      int64_t pixels, float* plain) {
  const auto transpose = gemm_kernels<float>().pack;
  for_blocks(n, channels, pixels, [&](int64_t p, int64_t used, int64_t b) {
    transpose(plain + p, pixels, used, {blocked + b, kChannelBlock, 1});
  });
}
}  // namespace hotaru::cpu
