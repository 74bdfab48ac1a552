// One product with gathered operands; see params/conv/gather.h.
#pragma once

#include "hotaru/backend/cuda/conv/convolution.h"
#include "hotaru/backend/cuda/params/conv/gather.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda {

/// Fill in params, except for pointers to tables, and the tables; then run it.
class Gathering {
 public:
  /// channels: those that the kernel's positions are counted with, innermost if
  /// `channels_inner`.
  Gathering(const Windows& windows, int64_t samples, int64_t channels,
            bool channels_inner);

  using Table = PlacesParams::Table;
  /// Tables of left.products, right.products and right.others.
  Table& left() { return places_.tables[0]; }
  Table& products() { return places_.tables[1]; }
  Table& columns() { return places_.tables[2]; }

  /// A table of all positions of all samples, or of the kernel's of all
  /// channels, in elements: the first lies at `first`, and the next along a
  /// dimension is laid.side times `times` away. Checked: those that fall beside
  /// the picture are none.
  void set_positions(Table& table, const Laid& laid, const Sides& times,
                     int64_t first, bool checked) const;
  void set_taps(Table& table, const Laid& laid, const Sides& times,
                int64_t first, bool checked) const;
  /// Where those of columns() go.
  void aim_positions(const Laid& out, const Sides& times, int64_t first);
  /// With channels innermost, only so many of them do.
  void aim_taps(const Laid& out, int64_t channels);

  /// chunks: operands lie in chunks of eight.
  void run(DType dtype, bool chunks);

  GatherParams params;

 private:
  using Steps = uint32_t[4];
  void position_steps(Steps& to, const Laid& laid, const Sides& times) const;
  void tap_steps(Steps& to, const Laid& laid, const Sides& times) const;

  Windows windows_;
  int64_t samples_, channels_;
  bool channels_inner_;
  PlacesParams places_;
};

/// Tells whether a product that is planned like that has tiles for tensor
/// cores.
bool is_large(GatherParams p, int64_t item);

}  // namespace hotaru::cuda
