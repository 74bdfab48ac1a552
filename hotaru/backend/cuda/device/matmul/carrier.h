// How tiles of matrices come to shared memory, for sums in registers.
#pragma once

#include "hotaru/backend/cuda/device/matmul/finish.h"

namespace hotaru::cuda {

/// A thread's part in bringing tiles of one operand to shared memory: four
/// elements of each, by way of registers.
template <class T, uint32_t kSide>
struct Carrier {
  using A = OpMath<T>;
  using Four = Vector<T, kMatmulLoads>;
  static constexpr uint32_t kDepth = tile_depth(kSide);
  static constexpr uint32_t kPitch = operand_pitch(kSide);

  const Stored<T>* from;
  int64_t apart;    // of the four
  int64_t advance;  // to the next tile
  uint32_t product, other;
  uint32_t real;  // of the four in the direction that does not move
  bool along, vectors;
  Four held;

  /// Carrier of rows [first, limit) of what starts at `base`.
  __device__ Carrier(Reading reading, const void* base, int64_t along_step,
                     int64_t other_step, uint32_t first, uint32_t limit,
                     uint32_t begin) {
    along = reading == Reading::kAlong || reading == Reading::kAlongVectors;
    vectors =
        reading == Reading::kAlongVectors || reading == Reading::kOtherVectors;
    constexpr uint32_t kAlong = kDepth / kMatmulLoads,
                       kOther = kSide / kMatmulLoads;
    product =
        along ? threadIdx.x % kAlong * kMatmulLoads : threadIdx.x / kOther;
    other = along ? threadIdx.x / kAlong : threadIdx.x % kOther * kMatmulLoads;
    const uint32_t row = first + other;
    const uint32_t rest = row < limit ? limit - row : 0;
    real = along ? (rest ? kMatmulLoads : 0)
                 : (rest < kMatmulLoads ? rest : kMatmulLoads);
    apart = along ? along_step : other_step;
    advance = kDepth * along_step;
    from = static_cast<const Stored<T>*>(base) +
           (int64_t(begin) + product) * along_step + int64_t(row) * other_step;
  }

  /// Reads the part of the tile whose first product is `tile`.
  __device__ void fetch(uint32_t tile, uint32_t end) {
    const uint32_t k = tile + product;
    const uint32_t rest = k < end ? end - k : 0;
    const uint32_t count =
        along ? (rest < real ? rest : real) : (rest ? real : 0);
    if (vectors && count == kMatmulLoads) {
      held = load_vector<Four>(from);
    } else {
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kMatmulLoads; ++j)
        held.at[j] = j < count ? from[int64_t(j) * apart] : Stored<T>(0);
    }
    from += advance;
  }
  __device__ void put(A (&tile)[kDepth][kPitch]) const {
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kMatmulLoads; ++j) {
      A* to = along ? &tile[product + j][other] : &tile[product][other + j];
      *to = widen<T>(held.at[j]);
    }
  }
};

/// The operands of a plain product.
template <class T, uint32_t kSide>
struct Matrices {
  using Params = MatmulParams;

  struct Left : Carrier<T, kSide> {
    __device__ Left(const Params& p, uint32_t batch, uint32_t first,
                    uint32_t begin)
        : Carrier<T, kSide>(p.a_by,
                            static_cast<const Stored<T>*>(p.a) +
                                int64_t(batch) * p.a_at.batch,
                            p.a_at.column, p.a_at.row, first, p.m, begin) {}
  };
  struct Right : Carrier<T, kSide> {
    __device__ Right(const Params& p, uint32_t batch, uint32_t first,
                     uint32_t begin)
        : Carrier<T, kSide>(p.b_by,
                            static_cast<const Stored<T>*>(p.b) +
                                int64_t(batch) * p.b_at.batch,
                            p.b_at.row, p.b_at.column, first, p.n, begin) {}
  };
};

}  // namespace hotaru::cuda
