// Rearrangements between channels and space.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

void check_rank(const char* op, const Tensor& self) {
  HOTARU_CHECK(self.dim() >= 3, op,
               " expects input to have at least 3 dimensions, but got input "
               "with ",
               self.dim(), " dimension(s)");
}

Dims leading(const Tensor& self) {
  return Dims(self.sizes().first(size_t(self.dim() - 3)));
}

// The last five of `n` dimensions, permuted.
Dims last_five(int64_t n, std::initializer_list<int64_t> order) {
  Dims out;
  for (int64_t d = 0; d < n - 5; ++d) out.push_back(d);
  for (int64_t d : order) out.push_back(n - 5 + d);
  return out;
}

Tensor regroup(const Tensor& self, std::initializer_list<int64_t> split,
               std::initializer_list<int64_t> order,
               std::initializer_list<int64_t> joined) {
  Dims size = leading(self), out = leading(self);
  for (int64_t s : split) size.push_back(s);
  for (int64_t s : joined) out.push_back(s);
  const Tensor parts = reshape(self, size);
  return in_format_of(
      self, reshape(permute(parts, last_five(parts.dim(), order)), out));
}

// [..., C r^2, H, W] -> [..., C, H r, W r].
Tensor pixel_shuffle(const Tensor& self, int64_t r) {
  check_rank("pixel_shuffle", self);
  HOTARU_CHECK(r > 0 && r < (1 << 20),
               "pixel_shuffle expects a positive upscale_factor, but got ", r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  HOTARU_CHECK(c % (r * r) == 0,
               "pixel_shuffle expects its input's 'channel' dimension to be "
               "divisible by the square of upscale_factor, but "
               "input.size(-3)=",
               c, " is not divisible by ", r * r);
  const int64_t out = c / (r * r);
  return regroup(self, {out, r, r, h, w}, {0, 3, 1, 4, 2}, {out, h * r, w * r});
}

// [..., C, H r, W r] -> [..., C r^2, H, W].
Tensor pixel_unshuffle(const Tensor& self, int64_t r) {
  check_rank("pixel_unshuffle", self);
  HOTARU_CHECK(r > 0 && r < (1 << 20),
               "pixel_unshuffle expects a positive downscale_factor, but got ",
               r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  HOTARU_CHECK(h % r == 0,
               "pixel_unshuffle expects height to be divisible by "
               "downscale_factor, but input.size(-2)=",
               h, " is not divisible by ", r);
  HOTARU_CHECK(w % r == 0,
               "pixel_unshuffle expects width to be divisible by "
               "downscale_factor, but input.size(-1)=",
               w, " is not divisible by ", r);
  return regroup(self, {c, h / r, r, w / r, r}, {0, 2, 4, 1, 3},
                 {c * r * r, h / r, w / r});
}

// [N, groups * k, ...]: the groups' channels take turns.
Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  HOTARU_CHECK(self.dim() > 2,
               "channel_shuffle expects input with > 2 dims, but got input "
               "with sizes ",
               shape_text(self.sizes()));
  const int64_t c = self.size(1);
  HOTARU_CHECK(groups > 0,
               "Number of groups to divide channels in must be "
               "positive. Value of groups:",
               groups);
  HOTARU_CHECK(c % groups == 0,
               "Number of channels must be divisible by groups. Got ", c,
               " channels and ", groups, " groups.");
  if (self.numel() == 0) return view(self, self.sizes());
  const Tensor split =
      reshape(self, Dims{self.size(0), groups, c / groups, -1});
  return reshape(contiguous(transpose(split, 1, 2)), self.sizes());
}

}  // namespace

HOTARU_OP("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
          pixel_shuffle);
HOTARU_OP("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
          pixel_unshuffle);
HOTARU_OP("channel_shuffle(Tensor self, int groups) -> Tensor",
          channel_shuffle);
HOTARU_OP("native_channel_shuffle(Tensor self, int groups) -> Tensor",
          channel_shuffle);

}  // namespace hotaru
