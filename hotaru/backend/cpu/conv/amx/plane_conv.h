// Convolutions of plain pictures of bfloat16, and gradients of their inputs, by
// AMX: a product of weights, a row for each channel of the result, with planes
// that hold two channels in a word (plane_axis.h). A tap of the kernel is an
// offset in them, so no windows are put together; what is computed between the
// rows of a picture is dropped. A gradient by a stride takes the outputs of
// each remainder apart, which read the same planes by other taps.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/conv/amx/plane_axis.h"

namespace hotaru::cpu {

class PlaneConv {
 public:
  static PlaneConv forward(const ConvGeometry& g);
  static PlaneConv data(const ConvGeometry& g);

  /// bias, of the result's channels, may be null.
  void run(const BFloat16* x, const BFloat16* weight, const BFloat16* bias,
           BFloat16* y) const;

 private:
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  /// Rows of some images that are read at once.
  struct Piece {
    int64_t image, images;
    Range rows;      // of a class, the same ones of each image
    int64_t height;  // rows of a plane
    const uint32_t* x;
  };

  PlaneConv(const ConvGeometry& g, const PlaneAxis& h, const PlaneAxis& w,
            int64_t channels, int64_t outputs, bool turned);
  const uint32_t* pack_weights(const BFloat16* weight) const;
  void pack_outputs(const BFloat16* weight, Range rows, uint32_t* to) const;
  void pack_turned(const BFloat16* weight, Range columns, int64_t block,
                   uint32_t* to) const;
  void run_group(const BFloat16* x, const BFloat16* weight,
                 const BFloat16* bias, BFloat16* y) const;
  void run_lines(const BFloat16* x, const uint32_t* weights,
                 const BFloat16* bias, BFloat16* y, Range lines,
                 Range outputs) const;
  int64_t words(int64_t height, int64_t images) const;
  Piece next_piece(Range lines) const;
  void pack(const BFloat16* x, const Piece& piece, uint32_t* to) const;
  void multiply(const Piece& piece, const uint32_t* weights, int64_t h,
                int64_t w, const BFloat16* bias, BFloat16* y,
                Range outputs) const;
  void finish(const Piece& piece, const float* sums, Range lines, int64_t h,
              int64_t w, int64_t output, const BFloat16* bias,
              BFloat16* y) const;

  PlaneAxis h_, w_;
  int64_t images_, groups_;
  int64_t channels_, outputs_;  // of a group
  int64_t taps_, kernel_w_;     // of the kernel
  bool turned_;                 // weights are [channels, outputs, taps]
  int64_t pitch_, phases_;
  int64_t blocks_;  // of 32 channels
};

}  // namespace hotaru::cpu
