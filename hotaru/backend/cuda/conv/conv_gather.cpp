#include "hotaru/backend/cuda/conv/conv_gather.h"

#include "hotaru/backend/cuda/conv/gathering.h"

namespace hotaru::cuda {
namespace {

/// Where a place that is `times` sides away lies.
int64_t distance(const Laid& a, const Sides& times) {
  int64_t out = 0;
  for (size_t d = 0; d < 3; ++d) out += a.side[d] * times[d];
  return out;
}

/// A product of `groups` pairs, to begin with.
GatherParams params_of(const Convolution& c, int64_t m, int64_t n, int64_t k) {
  GatherParams p;
  p.batch = c.s.groups;
  p.m = uint32_t(m), p.n = uint32_t(n), p.k = uint32_t(k);
  if (c.bias) p.bias = c.bias, p.bias_at = {m, 1, 0}, p.beta = 1;
  return p;
}
void set_operands(GatherParams& p, const Laid& a, const Laid& b,
                  const Laid& out) {
  p.a = a.at, p.a_at.batch = a.group;
  p.b = b.at, p.b_at.batch = b.group;
  p.out = out.at, p.out_batch = out.group;
}

/// For tensor cores: the operand itself, or a copy in chunks.
class Chunked {
 public:
  Laid operator()(const Laid& from, const Extent& extent) {
    if (lies_in_chunks(from, extent)) return from;
    constexpr int64_t kItem = 2;
    return copy_
        .emplace(from, extent, in_chunks(extent.channels), Sides{}, Sides{},
                 kItem)
        .laid();
  }

 private:
  std::optional<LaidCopy> copy_;
};

bool takes_tensor_cores(const Convolution& c, const GatherParams& p) {
  return c.item() == 2 && is_large(p, c.item());
}

void gather_remainder(const Convolution& c, const Remainder& r, const Laid& w,
                      const Laid& y, bool tensor) {
  const ConvSizes& s = c.s;
  const Windows& windows = r.windows;
  const int64_t out = tensor ? in_chunks(s.out) : s.out;
  GatherParams p = params_of(c, s.in, s.samples * volume(windows.positions),
                             out * volume(windows.taps));
  if (p.n == 0) return;
  set_operands(p, w, y, c.x);
  p.left.step = uint32_t(w.outer);
  p.left.along = w.channel == 1 || w.outer != 1;
  p.right.along = y.channel == 1;
  p.out_row = c.x.channel;
  Gathering g(windows, s.samples, out, y.channel == 1);
  g.params = p;
  g.set_taps(g.left(), w, r.period, distance(w, r.first_tap), false);
  g.set_taps(g.products(), y, windows.step, 0, true);
  g.set_positions(g.columns(), y, kOnce, distance(y, windows.shift), true);
  g.aim_positions(c.x, c.stride, distance(c.x, r.first));
  g.run(c.dtype, tensor);
}

}  // namespace

void gather_forward(const Convolution& c) {
  const ConvSizes& s = c.s;
  const Windows windows = windows_of(c);
  const int64_t taps = volume(s.w);
  GatherParams p = params_of(c, s.out, s.samples * volume(s.y), s.in * taps);
  const bool tensor = takes_tensor_cores(c, p);
  Chunked x_chunks, w_chunks;
  Laid x = c.x, w = c.w;
  if (tensor) {
    x = x_chunks(x, {s.samples, s.groups, s.in, s.x});
    w = w_chunks(w, {s.out, s.groups, s.in, s.w});
  }
  const int64_t in = tensor ? in_chunks(s.in) : s.in;
  p.k = uint32_t(in * taps);
  set_operands(p, w, x, c.y);
  p.left.step = uint32_t(w.outer);
  p.left.along = true;
  p.right.along = x.channel == 1;
  p.out_row = c.y.channel;
  Gathering g(windows, s.samples, in, x.channel == 1);
  g.params = p;
  g.set_taps(g.left(), w, kOnce, 0, false);
  g.set_taps(g.products(), x, c.dilation, 0, true);
  g.set_positions(g.columns(), x, c.stride, distance(x, windows.shift), true);
  g.aim_positions(c.y, kOnce, 0);
  g.run(c.dtype, tensor);
}

void gather_data(const Convolution& c) {
  const ConvSizes& s = c.s;
  bool tensor = false;
  for_remainders(c, [&](const Remainder& r) {
    const GatherParams p =
        params_of(c, s.in, s.samples * volume(r.windows.positions),
                  in_chunks(s.out) * volume(r.windows.taps));
    tensor = tensor || (p.n > 0 && takes_tensor_cores(c, p));
  });
  // Its rows are the channels of x.
  Laid w = c.w, y = c.y;
  std::swap(w.outer, w.channel);
  Chunked w_chunks, y_chunks;
  if (tensor) {
    w = w_chunks(w, {s.in, s.groups, s.out, s.w});
    y = y_chunks(y, {s.samples, s.groups, s.out, s.y});
  }
  for_remainders(
      c, [&](const Remainder& r) { gather_remainder(c, r, w, y, tensor); });
}

void gather_weight(const Convolution& c) {
  const ConvSizes& s = c.s;
  const Windows windows = windows_of(c);
  const int64_t taps = volume(s.w);
  GatherParams p = params_of(c, s.out, s.in * taps, s.samples * volume(s.y));
  const bool tensor = takes_tensor_cores(c, p);
  Chunked x_chunks, y_chunks;
  Laid x = c.x, y = c.y;
  if (tensor) {
    x = x_chunks(x, {s.samples, s.groups, s.in, s.x});
    y = y_chunks(y, {s.samples, s.groups, s.out, s.y});
  }
  const int64_t in = tensor ? in_chunks(s.in) : s.in;
  p.n = uint32_t(in * taps);
  set_operands(p, y, x, c.w);
  p.left.step = uint32_t(y.channel);
  p.left.along = y.channel != 1;
  p.right.along = x.channel != 1;
  p.out_row = c.w.outer;
  Gathering g(windows, s.samples, in, x.channel == 1);
  g.params = p;
  g.set_positions(g.left(), y, kOnce, 0, false);
  g.set_positions(g.products(), x, c.stride, distance(x, windows.shift), true);
  g.set_taps(g.columns(), x, c.dilation, 0, true);
  g.aim_taps(c.w, s.in);
  g.run(c.dtype, tensor);
}

}  // namespace hotaru::cuda
