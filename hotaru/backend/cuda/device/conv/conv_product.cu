// Products whose operands are gathered on the way, and the tables of where
// their elements lie. See params/conv/gather.h for how they are launched.
#include "hotaru/backend/cuda/device/conv/gather.h"
#include "hotaru/backend/cuda/device/matmul/float_product.h"
#include "hotaru/backend/cuda/device/matmul/splits.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

using Table = PlacesParams::Table;

/// The bits of a position in a picture, or of one in the kernel.
__device__ uint32_t window_bits(const PlacesParams& p, const Table& table,
                                const uint32_t (&digits)[4]) {
  uint32_t bits = 0, bit = 1;
  HOTARU_UNROLL
  for (uint32_t d = 0; d < 3; ++d) {
    const PlacesParams::Window& w = p.windows[d];
    const uint32_t digit = table.first ? digits[3 - d] : digits[2 - d];
    if (w.taps == 0) continue;  // nothing along it falls beside
    if (table.kind == Table::Kind::kTaps) {
      bits |= bit << digit;
      bit <<= w.taps;
      continue;
    }
    int32_t at = int32_t(digit) * w.scale + w.shift;
    HOTARU_NO_UNROLL
    for (int32_t t = 0; t < w.taps; ++t, at += w.step, bit <<= 1)
      if (uint32_t(at) >= uint32_t(w.limit)) bits |= bit;
  }
  return bits;
}

__device__ void places(const PlacesParams& p) {
  const Table& table = p.tables[blockIdx.y];
  const uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= table_room(table.count)) return;
  Place place{0, 0xffffffffu};
  uint32_t target = kNowhere;
  if (i < table.count) {
    uint32_t digits[4], rest = i;
    place = {table.offset, table.mark};
    target = table.target;
    HOTARU_UNROLL
    for (uint32_t d = 0; d < 4; ++d) {
      const uint32_t above = table.sizes[d].divide(rest);
      digits[d] = rest - above * table.sizes[d].divisor;
      place.offset += digits[d] * table.steps[d];
      target += digits[d] * table.target_steps[d];
      rest = above;
    }
    if (digits[0] >= table.without_target) target = kNowhere;
    if (table.kind != Table::Kind::kPlain)
      place.bits |= window_bits(p, table, digits);
  }
  table.places[i] = place;
  if (table.targets) table.targets[i] = target;
}

template <class T, uint32_t kSide>
__device__ void gathered_product(const GatherParams& p) {
  float_product<T, kSide, Gathered<T, kSide>>(p);
}

}  // namespace

HOTARU_CUDA_KERNEL(ConvPlaces, PlacesParams, places)

#define HOTARU_GATHER_LARGE(unused, T, suffix) \
  HOTARU_CUDA_CROWDED_KERNEL( \
      ConvLarge_##suffix, kCrowd<T>, GatherParams, \
      gathered_product<T, large_side(sizeof(Stored<T>))>)
HOTARU_DEVICE_TYPES_FloatTypes(HOTARU_GATHER_LARGE, )

#define HOTARU_GATHER(unused, T, suffix) \
  HOTARU_CUDA_BLOCK_KERNEL(ConvSmall_##suffix, GatherParams, \
                           gathered_product<T, kSmallSide>) \
  HOTARU_CUDA_KERNEL(ConvEnd_##suffix, GatherParams, \
                     join_splits<T, GatherParams>)
    HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_GATHER, )

}  // namespace hotaru::cuda
