// Convolutions of blocked pictures of bfloat16, and of plain ones that are
// rounded as they are read, by AMX.
//
// Blocked pictures are packed first, some rows at a time: of two blocks what a
// pixel has stands in a row of 64 bytes, with padding around the picture, and
// pixels that lie a stride apart stand next to each other, in a plane for each
// remainder (a phase). So every tap of the kernel finds the rows of any output
// pixels in order, also over the end of a line; what it computes between lines
// is dropped. Of plain pictures the windows themselves are packed.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/conv/amx/blocked_amx_parts.h"

namespace hotaru::cpu {

/// Tells whether the processor has the tiles for them, or those are emulated.
/// Then all blocked convolutions of bfloat16 in groups of blocks go this way,
/// and their weights are in the order for it.
bool has_amx_convolutions();

class BlockedAmx {
 public:
  static bool serves(const KernelCall& call);

  explicit BlockedAmx(const KernelCall& call);
  void run(const BlockedConv::Operands& o) const;

 private:
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  struct Tap {
    int64_t phase, shift;  // in positions
  };
  struct Phase {
    int64_t h, w;
  };
  /// Output rows of an image that are packed at `x`, and how many rows a phase
  /// has of them.
  struct Piece {
    int64_t image;
    Range rows;
    int64_t packed_rows;
    uint32_t* x;
  };
  struct Chunk;
  struct Pending;

  void find_taps();
  int64_t packed_rows(int64_t rows) const;
  int64_t packed_words(int64_t rows) const;
  /// Rows of all images, by output blocks of a group of the convolution.
  void run_rows(const BlockedConv::Operands& o, int64_t group, Range rows,
                Range blocks) const;
  int64_t fill(Chunk& chunk, Range rows) const;
  void pack(const BlockedConv::Operands& o, int64_t group,
            const Piece& piece) const;
  void pack_blocked(const uint32_t* x, const Piece& piece) const;
  void pack_plain_rows(const float* x, const Piece& piece) const;
  void multiply(const BlockedConv::Operands& o, const Piece& piece,
                Range blocks) const;
  void finish(const BlockedConv::Operands& o, const Piece& piece, int64_t block,
              PixelRange pixels, float* sums) const;
  void finish_row(const BlockedConv::Operands& o, int64_t at, int64_t block,
                  int64_t pixels, float* sums) const;
  const uint32_t* rest_of(const uint32_t* w, int64_t blocks) const;

  BlockedSizes s_;
  BlockEnding ending_;
  bool plain_, rounds_;
  int64_t all_in_blocks_, in_blocks_, out_blocks_, blocks_of_group_, groups_;
  int64_t pairs_;  // of input blocks
  std::vector<Tap> taps_;
  std::vector<Phase> phases_;
  int64_t pitch_;     // positions from an output row to the next
  int64_t columns_;   // words of a row of the kernel, of plain pictures
  int64_t words_;     // of the depth
  int64_t steps_;     // of 16 words
  int64_t together_;  // output blocks of a tile
  bool by_rows_;      // threads divide rows, not output blocks
};

}  // namespace hotaru::cpu
