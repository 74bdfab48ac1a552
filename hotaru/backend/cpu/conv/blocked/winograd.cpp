#include "hotaru/backend/cpu/conv/blocked/winograd.h"

#include <algorithm>
#include <vector>

#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kNumbers = 16;  // of a tile
// Bytes of the numbers and sums of the tiles at once: what the second-level
// cache holds.
constexpr int64_t kChunkBytes = 768 * 1024;
// Bytes of weights that lie near enough not to be fetched ahead.
constexpr int64_t kNearWeights = 256 * 1024;
constexpr int64_t kLine = 16;  // elements
// Bytes of weights that every thread reads rather than wait for others.
constexpr int64_t kSharedWeights = 2 * 1024 * 1024;
// Additions, or multiply-adds, that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 19;

int64_t grain_of(int64_t work) {
  return std::max<int64_t>(1, kWorkPerThread / std::max<int64_t>(1, work));
}

}  // namespace

Winograd::Winograd(const KernelCall& call)
    : s_(call),
      ending_(call.attributes<BlockedConvAttributes>().ending),
      in_blocks_(channel_blocks(s_.c)),
      out_blocks_(channel_blocks(s_.o)),
      tile_columns_((s_.out_w + 1) / 2),
      plane_tiles_(tile_columns_ * ((s_.out_h + 1) / 2)),
      tiles_(plane_tiles_ * s_.n) {
  const int64_t bytes = kNumbers * kChannelBlock * int64_t(sizeof(float)) *
                        (in_blocks_ + out_blocks_);
  chunks_ = (tiles_ * bytes + kChunkBytes - 1) / kChunkBytes;
  const BlockedConvKernels& kernels = blocked_conv_kernels();
  blocks_ = BlockedConvKernels::kMaxBlocks;
  while (out_blocks_ % blocks_ != 0 || kernels.max_pixels[blocks_ - 1] == 0)
    --blocks_;
}

/// f(block, image, first tile of the plane, how many, where in the chunk) for
/// the parts of planes that the tiles belong to.
template <class F>
void Winograd::for_planes(int64_t blocks, WinogradTiles tiles,
                          const F& f) const {
  const int64_t work = tiles.count * kNumbers * kChannelBlock * 2;
  parallel_for(0, blocks, grain_of(work), [&](int64_t block, int64_t end) {
    for (; block < end; ++block)
      for (int64_t done = 0; done < tiles.count;) {
        const int64_t at = tiles.first + done;
        const int64_t image = at / plane_tiles_, first = at % plane_tiles_;
        const int64_t count =
            std::min(plane_tiles_ - first, tiles.count - done);
        f(block, image, first, count, done);
        done += count;
      }
  });
}

void Winograd::transform(const BlockedConv::Operands& o, WinogradTiles tiles,
                         float* numbers) const {
  const int64_t plane = s_.h * s_.w * kChannelBlock;
  const int64_t stride = in_blocks_ * tiles.count * kChannelBlock;
  for_planes(
      in_blocks_, tiles,
      [&](int64_t block, int64_t image, int64_t first, int64_t count,
          int64_t at) {
        winograd_kernels().input(
            {o.x + (image * in_blocks_ + block) * plane, s_.h, s_.w,
             s_.padding_h, s_.padding_w, tile_columns_, first, count,
             numbers + (block * tiles.count + at) * kChannelBlock, stride});
      });
}

void Winograd::multiply(const float* w, int64_t count, const float* numbers,
                        float* sums) const {
  static constexpr TileEdge kEdge = TileEdge::kNone;
  alignas(64) static constexpr float
      kZeros[kChannelBlock * BlockedConvKernels::kMaxBlocks] = {};
  const BlockedConvKernels& kernels = blocked_conv_kernels();
  const int64_t row = count * kChannelBlock;
  const int64_t depth = in_blocks_ * kChannelBlock * kChannelBlock;
  const int64_t groups = out_blocks_ / blocks_;
  const int64_t most = kernels.max_pixels[blocks_ - 1];
  const int64_t parts = (count + most - 1) / most;
  const int64_t size = kNumbers * out_blocks_ * depth;
  const bool far = size * int64_t(sizeof(float)) > kNearWeights;
  // Lines of the next weights of an output block that come with each part.
  const int64_t lines = (depth / kLine + parts - 1) / parts;
  const auto one = [&](int64_t i) {
    const int64_t number = i / groups, block = i % groups * blocks_;
    BlockedTile t{};
    t.pixel = kChannelBlock;
    t.block = row;
    t.w = w + (number * out_blocks_ + block) * depth;
    t.w_output = depth;
    t.w_block = kChannelBlock * kChannelBlock;
    t.blocks = in_blocks_;
    t.rows = t.columns = 1;
    t.edges = &kEdge;
    t.shift = kZeros;
    t.y_output = row;
    const bool more = far && i + 1 < kNumbers * groups;
    const float* const next = more ? t.w + blocks_ * depth : nullptr;
    t.ahead_lines = (lines + in_blocks_ - 1) / in_blocks_;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t first = part * count / parts;
      const int64_t pixels = (part + 1) * count / parts - first;
      t.x = numbers + number * in_blocks_ * row + first * kChannelBlock;
      t.y = sums + (number * out_blocks_ + block) * row + first * kChannelBlock;
      if (next) {
        t.ahead = next + std::min(depth, part * lines * kLine);
        t.ahead_end = next + std::min(depth, (part + 1) * lines * kLine);
      }
      const TileForm form = next ? TileForm::kBlocked : TileForm::kOneTap;
      kernels.tile(int(pixels), blocks_, form)(t);
    }
  };
  parallel_for(0, kNumbers * groups, grain_of(depth * count * blocks_),
               [&](int64_t i, int64_t end) {
                 for (; i < end; ++i) one(i);
               });
}

void Winograd::finish(const BlockedConv::Operands& o, WinogradTiles tiles,
                      const float* sums) const {
  const int64_t plane = s_.out_h * s_.out_w * kChannelBlock;
  const int64_t stride = out_blocks_ * tiles.count * kChannelBlock;
  for_planes(out_blocks_, tiles,
             [&](int64_t block, int64_t image, int64_t first, int64_t count,
                 int64_t at) {
               const int64_t to = (image * out_blocks_ + block) * plane;
               winograd_kernels().output(
                   {sums + (block * tiles.count + at) * kChannelBlock, stride,
                    s_.out_h, s_.out_w, tile_columns_, first, count,
                    o.shift + block * kChannelBlock,
                    o.residual ? o.residual + to : nullptr, &ending_,
                    used_channels(s_.o, block), o.y + to});
             });
}

void Winograd::run(const BlockedConv::Operands& o) const {
  if (tiles_ == 0) return;
  const int64_t numbers_size = kNumbers * in_blocks_ * kChannelBlock;
  const int64_t sums_size = kNumbers * out_blocks_ * kChannelBlock;
  const auto chunk = [&](int64_t i, int64_t chunks) {
    const int64_t first = i * tiles_ / chunks;
    const WinogradTiles tiles{first, (i + 1) * tiles_ / chunks - first};
    float* numbers =
        scratch<float>(ScratchUse::kConv, tiles.count * numbers_size);
    float* sums =
        scratch<float>(ScratchUse::kConvOutput, tiles.count * sums_size);
    transform(o, tiles, numbers);
    multiply(o.w, tiles.count, numbers, sums);
    finish(o, tiles, sums);
  };
  // Threads share either the weights, each with tiles of its own, or the tiles.
  const int64_t weights = kNumbers * in_blocks_ * out_blocks_ * kChannelBlock *
                          kChannelBlock * int64_t(sizeof(float));
  if (weights > kSharedWeights) {
    for (int64_t i = 0; i < chunks_; ++i) chunk(i, chunks_);
    return;
  }
  const int64_t work = tiles_ * numbers_size * out_blocks_ * kChannelBlock;
  const int64_t threads = std::clamp<int64_t>(
      work / kWorkPerThread, 1, std::min<int64_t>(get_num_threads(), tiles_));
  const int64_t chunks = (chunks_ + threads - 1) / threads * threads;
  parallel_for(0, chunks, chunks / threads, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) chunk(i, chunks);
  });
}

namespace {

/// G g G^T for G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1], g[3 i + j] at
/// multiples of `step`.
void weight_numbers(const float* g, int64_t step, double (&to)[kNumbers]) {
  const auto three = [](const double* v, int64_t stride, double* out,
                        int64_t out_stride) {
    const double a = v[0], b = v[stride], c = v[2 * stride];
    out[0] = a;
    out[out_stride] = (a + b + c) / 2;
    out[2 * out_stride] = (a - b + c) / 2;
    out[3 * out_stride] = c;
  };
  double in[9], half[12];  // 4 x 3
  for (int64_t i = 0; i < 9; ++i) in[i] = g[i * step];
  for (int64_t j = 0; j < 3; ++j) three(in + j, 3, half + j, 3);
  for (int64_t i = 0; i < 4; ++i) three(half + 3 * i, 1, to + 4 * i, 1);
}

/// The weight of "blocked_conv", then each number's matrix in the order of a
/// kernel of 1 x 1.
void winograd_weight(const KernelCall& call) {
  static const Kernel& kernel = hotaru::kernel("blocked_weight");
  const Tensor& packed = call.tensor(0);
  const Tensor direct =
      allocate(Dims{packed.numel() / kNumbers * 9}, DType::kFloat32, Device{});
  std::vector<Operand> operands(call.operands().begin(), call.operands().end());
  operands[0] = write(direct);
  KernelCall(kernel, operands, call.attributes<BlockedWeightAttributes>())
      .run(DeviceType::kCPU);
  // Blocks of 16 x 16 weights, one for each tap.
  constexpr int64_t kSquare = kChannelBlock * kChannelBlock;
  const int64_t blocks = direct.numel() / 9 / kSquare;
  const float* from = direct.data<float>();
  float* to = packed.data<float>();
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < kSquare; ++i) {
      double numbers[kNumbers];
      weight_numbers(from + block * 9 * kSquare + i, kSquare, numbers);
      for (int64_t k = 0; k < kNumbers; ++k)
        to[(k * blocks + block) * kSquare + i] = float(numbers[k]);
    }
}

HOTARU_KERNEL(kCPU, "winograd_weight", winograd_weight);

}  // namespace
}  // namespace hotaru::cpu
