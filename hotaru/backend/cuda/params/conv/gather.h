// Products of matrices that are nowhere as such: elements are gathered from
// where convolutions have them. Launched like params/matmul.h's products:
//
//   ConvPlaces                    first: where the elements lie
//     grid  blocks_for(the longest table) by the number of tables; PlacesParams
//   ConvLarge_<suffix>, ConvSmall_<suffix>, ConvEnd_<suffix>
//                                 as GemmLarge and its like
//   ConvTensor_<suffix>_<order> as GemmTensor, chunks of eight lying in the
//                                 products' direction in both operands (nt) or
//                                 in neither (tn)
//   parameters   GatherParams
#pragma once

#include "hotaru/backend/cuda/params/matmul.h"

namespace hotaru::cuda {

/// Half of where an element lies. Rows (columns) of an operand have one each
/// and products have: an element is at the sum of both offsets, modulo 2^32,
/// or is 0 where they have a bit in common. A position in a picture has a bit
/// for each position of the kernel, along each dimension, that falls beside
/// the picture, and positions of the kernel have their own.
struct alignas(8) Place {
  uint32_t offset, bits;
};

/// Bits that products and others always have, so that places behind the end,
/// which have all bits, meet nothing; the rest is the kernel's.
inline constexpr uint32_t kProductsMark = 1u << 31, kOthersMark = 1u << 30;
inline constexpr int64_t kPlaceBits = 30;

/// Tables go on behind their end for the length of a tile, and one more that
/// is looked at early.
constexpr uint32_t table_room(uint32_t count) {
  constexpr uint32_t kTile = 128;
  return (count + kTile - 1) / kTile * kTile + kTile;
}

/// An operand; neighbouring threads read neighbouring products, or others. Rows
/// of the left one are `step` apart, columns of the right one are in a table.
struct GatheredOperand {
  const Place *products = nullptr, *others = nullptr;
  uint32_t step = 0;
  bool along = false;
};

/// Target of a column that is not kept.
inline constexpr uint32_t kNowhere = 0xffffffffu;

/// a_at and b_at say the batches' strides only.
struct GatherParams : MatmulParams {
  GatheredOperand left, right;
  /// Where columns of the output lie in its rows.
  const uint32_t* targets = nullptr;
};

/// One table: numbers of up to four digits, the innermost first, each with its
/// step.
struct PlacesParams {
  struct Table {
    Place* places = nullptr;
    /// Null: none.
    uint32_t* targets = nullptr;
    uint32_t count = 0;
    uint32_t mark = 0;
    Divider sizes[4];
    uint32_t offset = 0, target = 0;
    uint32_t steps[4] = {}, target_steps[4] = {};
    /// Digits of the innermost one have none from here on.
    uint32_t without_target = kNowhere;
    /// The digit that is the innermost of three dimensions; what it is there.
    uint32_t first = 0;
    enum class Kind : uint8_t { kPlain, kPositions, kTaps } kind = Kind::kPlain;
  };
  /// Window along a dimension: position i meets tap t at i * scale + shift + t
  /// * step, which is there if it is at least 0 and below the limit. No taps:
  /// all are.
  struct Window {
    int32_t scale = 1, shift = 0, step = 1, limit = 1, taps = 1;
  };
  static constexpr uint32_t kTables = 3;
  Table tables[kTables];
  Window windows[3];
};

}  // namespace hotaru::cuda
