// Transposed convolutions, and interpolation by the nearest pixel, on pictures
// in blocks.
#include "hotaru/backend/common/resample/resample.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/pictures/blocker.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {

/// True if each pixel becomes a rectangle of its own, of whole blocks.
bool Blocker::spreads(const KernelCall& call) const {
  if (!is(call, known::kConvData)) return false;
  const Tensor &y = call.tensor(0), &x = call.tensor(1), &w = call.tensor(2),
               &bias = call.tensor(3);
  const auto& a = call.attributes<ConvAttributes>();
  if (w.dim() > 4 || x.dtype() != DType::kFloat32 || a.groups != 1 ||
      y.numel() == 0 || x.numel() == 0 || w.size(1) % kChannelBlock != 0)
    return false;
  for (size_t d = 0; d < a.stride.size(); ++d) {
    const int64_t side = w.sizes()[d + 2];
    if (a.stride[d] != side || a.padding[d] != 0 ||
        (side > 1 && a.dilation[d] != 1) ||
        y.sizes()[d + 2] != side * x.sizes()[d + 2])
      return false;
  }
  return free_result(y) && region_.lasts(w) &&
         (!bias.defined() || region_.lasts(bias));
}

/// A convolution by one tap whose outputs are all pixels of a rectangle,
/// which a copy brings to their places.
void Blocker::upsample(const KernelCall& call) {
  const Tensor &y = call.tensor(0), &w = call.tensor(2);
  const bool plane = w.dim() == 4;
  const int64_t kh = plane ? w.size(2) : 1, kw = w.sizes().back();
  const int64_t c = w.size(0), o = w.size(1);
  const Tensor x = blocked(call.tensor(1));
  const int64_t n = x.size(0), h = x.size(2), width = x.size(3);
  const Dims ones(size_t(w.dim()) - 2, 1), zeros(size_t(w.dim()) - 2, 0);
  const Tensor t = region_.make_value(
      Dims{n, kh * kw * o / kChannelBlock, h, width, kChannelBlock},
      DType::kFloat32);
  const auto [packed, shift] = weight_of_taps(w, call.tensor(3), kh, kw);
  const Tensor none;
  const Operand operands[] = {write(t), read(x), read(packed), read(shift),
                              read(none)};
  BlockedConvAttributes attributes;
  attributes.conv = {ones, zeros, ones, 1,
                     call.attributes<ConvAttributes>().bf16};
  attributes.kernel = ones;
  attributes.in_channels = c;
  attributes.out_channels = kh * kw * o;
  append({known::kBlockedConv, operands, attributes});

  const Tensor made = make_blocked(y.sizes());
  // The blocks of an output channel block's taps lie together.
  const int64_t sizes[] = {n * o / kChannelBlock, h, kh, width, kw,
                           kChannelBlock};
  const int64_t row = width * kChannelBlock, tap = h * row;
  const int64_t strides[] = {kh * kw * tap, row, kw * tap,
                             kChannelBlock, tap, 1};
  const Tensor taken =
      make_tensor(t.storage(), DType::kFloat32, sizes, strides, 0);
  const Tensor placed = make_tensor(made.storage(), DType::kFloat32, sizes,
                                    contiguous_strides(sizes), 0);
  const Operand moves[] = {write(placed), read(taken)};
  append({known::kCopy, moves});
  finish(y, made);
}

/// Interpolation by the nearest pixel, each of which becomes a rectangle: a
/// copy.
bool Blocker::repeat(const KernelCall& call) {
  if (!is(call, known::kResample)) return false;
  const Tensor &y = call.tensor(0), &x = call.tensor(1);
  const auto& a = call.attributes<ResampleAttributes>();
  const Tensor from = known(x);
  if ((a.mode != ResampleMode::kNearest &&
       a.mode != ResampleMode::kNearestExact) ||
      !from.defined() || !free_result(y) || a.dims > 2 ||
      x.dim() != a.dims + 2 || y.numel() == 0)
    return false;
  Dims times{1, 1};
  for (int64_t d = 0; d < a.dims; ++d) {
    const int64_t in = x.size(d + 2), out = y.size(d + 2), n = out / in;
    const double scale = a.scales[size_t(d)];
    // Powers of two, whose reciprocals are exact.
    if (out % in != 0 || (n & (n - 1)) != 0 ||
        (scale != 0 && scale != double(n)))
      return false;
    times[size_t(d + 2 - a.dims)] = n;
  }
  const Tensor made = make_blocked(y.sizes());
  const int64_t h = from.size(2), w = from.size(3), row = w * kChannelBlock;
  const Dims sizes{
      from.size(0) * from.size(1), h, times[0], w, times[1], kChannelBlock};
  const Tensor read_from = make_tensor(
      from.storage(), DType::kFloat32, sizes,
      Dims{h * row, row, 0, kChannelBlock, 0, 1}, from.storage_offset());
  const Tensor placed =
      make_tensor(made.storage(), DType::kFloat32, sizes,
                  contiguous_strides(sizes), made.storage_offset());
  const Operand operands[] = {write(placed), read(read_from)};
  append({known::kCopy, operands});
  finish(y, made);
  return true;
}

/// [c, o, kh, kw] as a packed weight of o * kh * kw outputs, and its shift.
std::pair<Tensor, Tensor> Blocker::weight_of_taps(const Tensor& w,
                                                  const Tensor& bias,
                                                  int64_t kh, int64_t kw) {
  const int64_t c = w.size(0), o = w.size(1), outputs = kh * kw * o;
  const auto once = [&](const Kernel& kernel, const auto& operands,
                        const auto&... attributes) {
    region_.once.push_back(
        std::make_unique<Node>(KernelCall(kernel, operands, attributes...)));
  };
  const auto copied = [&](const Tensor& from, IntSpan sizes, IntSpan strides,
                          IntSpan as) {
    const Tensor to = allocate(sizes, DType::kFloat32, Device{});
    const Tensor seen = make_tensor(from.storage(), DType::kFloat32, sizes,
                                    strides, from.storage_offset());
    const Operand operands[] = {write(to), read(seen)};
    once(known::kCopy, operands);
    return make_tensor(to.storage(), DType::kFloat32, as,
                       contiguous_strides(as), 0);
  };
  const IntSpan steps = w.strides();
  const int64_t blocks = o / kChannelBlock, of_o = steps[1];
  const Tensor taps =
      copied(w, Dims{blocks, kh, kw, kChannelBlock, c},
             Dims{kChannelBlock * of_o, steps[2], steps.back(), of_o, steps[0]},
             Dims{outputs, c, 1, 1});
  const Tensor biases =
      bias.defined()
          ? copied(bias, Dims{blocks, kh * kw, kChannelBlock},
                   Dims{kChannelBlock * bias.stride(0), 0, bias.stride(0)},
                   Dims{outputs})
          : Tensor();
  const Tensor packed = allocate(Dims{blocked_weight_size(taps.sizes(), {})},
                                 DType::kFloat32, Device{});
  const Tensor shift = allocate(Dims{outputs}, DType::kFloat32, Device{});
  const Tensor none;
  const Operand operands[] = {write(packed), write(shift), read(taps),
                              read(biases),  read(none),   read(none),
                              read(none),    read(none)};
  once(known::kBlockedWeight, operands, BlockedWeightAttributes());
  return {packed, shift};
}

}  // namespace hotaru::graph
