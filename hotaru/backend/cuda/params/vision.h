// Parameters of torchvision's operators, and how they are launched; see
// common/vision. Suffixes are those of params/types.h; a block has kBlock
// threads, which wait for each other in nms alone.
//
//   NmsCover_<suffix>          which boxes behind it each of a stretch covers
//     grid   words x ceil(rows / kBlock), a thread for a box and a word
//   NmsKeep_8                  which boxes of the stretch stay, in order
//     grid   one block
//   parameters   NmsParams
//
//   [Ps]RoiAlign_<suffix>      grid of picture
//   [Ps]RoiAlignGrad_<suffix>  adds to picture, full of zeros, of grid
//   RoiPool_<suffix>           grid and places of picture
//   RoiPoolGrad_<suffix>       adds to picture of grid and places
//   PsRoiPool_<suffix>         grid of picture
//   PsRoiPoolGrad_<suffix>     adds to picture of grid
//     grid   a thread for each element of the regions' grids
//   parameters   RegionParams
//
//   DeformColumns_<suffix>     columns of input, offsets and mask
//   DeformInputGrad_<suffix>   adds to input, full of zeros, of columns
//     grid   a thread for each element of columns; a line is a channel's tap
//   DeformPlaceGrad_<suffix>   gradients of offsets and mask, each the sum over
//                              the group's channels in one order
//     grid   a thread for each sample; a line is a group's tap
//   parameters   DeformParams
//
// Additions to pictures are made by atomics, so not in one order: an element of
// a picture does not know which samples it is in.
#pragma once

#include "hotaru/backend/common/vision/deform.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Boxes of a word of bits, and words of `covered` at most: 64 MiB.
inline constexpr int64_t kNmsWord = 64, kNmsMostWords = int64_t{1} << 23;

struct NmsParams {
  const void* boxes = nullptr;
  /// Boxes in all, and of the stretch: its first one, a multiple of kNmsWord,
  /// and how many it has.
  int64_t numel = 0, first = 0, rows = 0;
  /// Words for all boxes.
  int64_t words = 0;
  /// [rows, words]; words before a box's own are not written.
  unsigned long long* covered = nullptr;
  /// Boxes that fell, of which the first stretch finds none.
  unsigned long long* fallen = nullptr;
  int64_t *kept = nullptr, *count = nullptr;
  double limit = 0;
};

/// Codes of errors, with their numbers; x: the bits of a double.
enum class RegionError : int64_t {
  kImage,    // region, image x, images
  kSamples,  // extent x, samples x
};

struct RegionParams {
  /// Operands at the first region of this launch.
  void* grid = nullptr;
  int32_t* places = nullptr;
  const void* rois = nullptr;
  void* picture = nullptr;
  /// Elements of this launch's grids, and regions before them.
  uint32_t numel = 0;
  int64_t first = 0;
  /// Sizes of a grid.
  Divider channels, rows, columns;
  /// Sizes of the picture.
  int64_t images = 0, planes = 0, height = 0, width = 0;
  RegionAttributes attributes;
  ErrorSink errors;
};

/// Parameters for one picture.
struct DeformParams {
  /// Columns and input, or their gradients where the kernel is of these.
  void *columns = nullptr, *input = nullptr;
  const void *offsets = nullptr, *mask = nullptr;
  /// DeformPlaceGrad's results, the second one may be null.
  void *offsets_grad = nullptr, *mask_grad = nullptr;
  /// Elements of this launch, and lines before them.
  uint32_t numel = 0;
  int64_t first = 0;
  /// Elements of a line, and of a row of them.
  Divider positions;
  int64_t row = 1;
  int64_t taps = 1;
  /// Sizes of the input; channels are those of a group.
  int64_t channels = 1, height = 0, width = 0;
  DeformAttributes attributes;
};

}  // namespace hotaru::cuda
