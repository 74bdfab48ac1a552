// Calls whose values stay in blocks between convolutions.
#include <algorithm>

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/backend/common/resample/resample.h"
#include "hotaru/backend/common/shape/join.h"
#include "hotaru/backend/common/shape/pad.h"
#include "hotaru/core/host.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/pictures/blocker.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

/// Ending of a convolution that an elementwise call of one operand is.
std::optional<ConvEnding> ending_of(const KernelCall& call) {
  using Kind = ConvEnding::Kind;
  static const std::pair<const KnownKernel&, Kind> kKinds[] = {
      {known::kSigmoid, Kind::kSigmoid},
      {known::kTanh, Kind::kTanh},
      {known::kSilu, Kind::kSilu},
      {known::kGelu, Kind::kGelu},
      {known::kGeluTanh, Kind::kGeluTanh},
      {known::kHardsigmoid, Kind::kHardSigmoid},
      {known::kHardswish, Kind::kHardSwish},
  };
  for (const auto& [kernel, kind] : kKinds)
    if (is(call, kernel)) return ConvEnding{kind};
  if (is(call, known::kRelu)) return ConvEnding::relu();
  const bool low = is(call, known::kClampMin),
             high = is(call, known::kClampMax),
             hardtanh = is(call, known::kHardtanh);
  if (!low && !high && !hardtanh && !is(call, known::kClamp)) return {};
  const auto& n = call.attributes<PointwiseNumbers>();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const ConvEnding out{Kind::kClamp, high ? -kInfinity : n.a.to<float>(),
                       low ? kInfinity : n.b.to<float>()};
  // "hardtanh" looks at its lower limit first, "clamp" at it last.
  if (hardtanh && !(out.low <= out.high)) return {};
  return out;
}

}  // namespace

/// Pictures of whole blocks one behind the other, of which one is in blocks.
bool Blocker::join(const KernelCall& call) {
  if (!is(call, known::kCat) || call.attributes<CatAttributes>().dim != 1)
    return false;
  const Tensor& y = call.tensor(0);
  if (y.dim() < 3 || y.dim() > 4 || alike(y.sizes()) || !free_result(y))
    return false;
  bool any = false;
  for (const Operand& operand : call.operands().subspan(1)) {
    const Tensor& x = *operand.tensor;
    if (x.dim() != y.dim() || x.size(1) % kChannelBlock != 0) return false;
    any |= picture(x) != nullptr;
  }
  if (!any) return false;
  std::vector<Tensor> parts;
  for (const Operand& operand : call.operands().subspan(1))
    parts.push_back(blocked(*operand.tensor));
  const Tensor made = make_blocked(y.sizes());
  std::vector<Operand> operands{write(made)};
  for (const Tensor& part : parts) operands.push_back(read(part));
  append({call.kernel(), operands, CatAttributes{1}});
  finish(y, made);
  return true;
}

bool Blocker::pool(const KernelCall& call) {
  if (!is(call, known::kMaxPool) || call.tensor(1).defined()) return false;
  const auto& a = call.attributes<MaxPoolAttributes>();
  return !a.adaptive &&
         pool(call.tensor(0), call.tensor(2), known::kBlockedMaxPool, a);
}

bool Blocker::average_windows(const KernelCall& call) {
  if (!is(call, known::kResample)) return false;
  const auto& a = call.attributes<ResampleAttributes>();
  return a.mode == ResampleMode::kAverage &&
         pool(call.tensor(0), call.tensor(1), known::kBlockedAvgPool, a);
}

template <class Attributes>
bool Blocker::pool(const Tensor& y, const Tensor& x, const Kernel& kernel,
                   const Attributes& a) {
  const Tensor from = known(x);
  if (!from.defined() || !free_result(y) || a.dims > 2 || x.dim() != a.dims + 2)
    return false;
  const Tensor made = make_blocked(y.sizes());
  const Operand operands[] = {write(made), read(from)};
  append({kernel, operands, a});
  finish(y, made);
  return true;
}

/// The mean of each channel: a plain value.
bool Blocker::average(const KernelCall& call) {
  if (!is(call, known::kSum)) return false;
  const Tensor &y = call.tensor(0), &x = call.tensor(1);
  const auto& a = call.attributes<SumAttributes>();
  const Tensor from = known(x);
  if (!from.defined() || !a.mean || a.skip_nan || !whole(y) ||
      y.dtype() != x.dtype() || y.dim() != x.dim() ||
      y.numel() != y.size(0) * y.size(1) || y.size(0) != x.size(0) ||
      y.size(1) != x.size(1))
    return false;
  const Operand operands[] = {write(y), read(from)};
  append({known::kBlockedMean, operands});
  pictures_.erase(y.storage().get());
  return true;
}

/// Goes on within a convolution whose result nobody else wants.
bool Blocker::end(const KernelCall& call) {
  const std::optional<ConvEnding> ending = ending_of(call);
  if (!ending) return false;
  const Tensor &y = call.tensor(0), &x = call.tensor(1);
  Picture* const from = picture(x);
  if (!from || !from->open || !free_result(y) || !same(y.sizes(), x.sizes()) ||
      (y.storage() != x.storage() && readers_.at(x.storage().get()) > 1))
    return false;
  std::unique_ptr<Node>& node = region_.nodes[*from->open];
  const KernelCall& conv = node->call();
  // Where the result itself is wanted in this form, it is written at once.
  const bool at_once = alike(y.sizes()) && writers_.at(y.storage().get()) == 1;
  const Tensor made = at_once ? as_blocked(y) : from->blocked;
  std::vector<Operand> operands(conv.operands().begin(), conv.operands().end());
  operands[0] = write(made);
  auto attributes = conv.attributes<BlockedConvAttributes>();
  attributes.ending = *ending;
  node =
      std::make_unique<Node>(KernelCall(conv.kernel(), operands, attributes));
  pictures_.erase(x.storage().get());
  finish(y, made);
  return true;
}

/// A picture times a number for each channel.
bool Blocker::scale(const KernelCall& call) {
  if (!is(call, known::kMul) || call.operands().size() != 3) return false;
  const Tensor& y = call.tensor(0);
  const auto numbers = [&](const Tensor& t) {
    return t.dtype() == DType::kFloat32 && t.dim() == y.dim() &&
           t.is_contiguous() && t.size(0) == y.size(0) &&
           t.size(1) == y.size(1) && t.numel() == y.size(0) * y.size(1);
  };
  if (y.dim() < 3 || y.dim() > 4 || !free_result(y)) return false;
  const bool first = numbers(call.tensor(1));
  const Tensor &x = call.tensor(first ? 2 : 1),
               &by = call.tensor(first ? 1 : 2);
  if (!numbers(by) || numbers(x) || !same(x.sizes(), y.sizes())) return false;
  const Tensor from = known(x);
  if (!from.defined()) return false;
  const Tensor scales = blocked(by), made = make_blocked(y.sizes());
  const Operand operands[] = {write(made), read(from), read(scales)};
  append({known::kBlockedScale, operands});
  finish(y, made);
  return true;
}

/// A copy that puts a picture's channels last, or those back.
bool Blocker::copy(const KernelCall& call) {
  if (!is(call, known::kCopy)) return false;
  const Tensor &to = call.tensor(0), &from = call.tensor(1);
  if (to.dtype() != DType::kFloat32 || from.dtype() != DType::kFloat32 ||
      !same(to.sizes(), from.sizes()) || from.storage() == to.storage())
    return false;
  return copy_out(to, from) || copy_in(to, from);
}

/// From a picture whose blocks are known.
bool Blocker::copy_out(const Tensor& to, const Tensor& from) {
  const auto found = pictures_.find(from.storage().get());
  if (found == pictures_.end() || from.storage_offset() != 0) return false;
  Picture& picture = found->second;
  const IntSpan sizes = picture.sizes;
  if (from.numel() != count(sizes) || size_t(from.dim()) != sizes.size())
    return false;
  // Where the picture's dimensions are among those of the view.
  const Dims strides = contiguous_strides(sizes);
  Dims steps(sizes.size(), 0);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    size_t i = 0;
    while (i < sizes.size() &&
           (from.sizes()[i] != sizes[d] || from.strides()[i] != strides[d]))
      ++i;
    if (i == sizes.size()) return false;
    steps[d] = to.strides()[i];
  }
  if (!last(sizes, steps) || to.storage_offset() != 0 ||
      size_t(to.numel()) * sizeof(float) != to.storage()->nbytes())
    return false;
  picture.open.reset();
  unblock(make_tensor(to.storage(), DType::kFloat32, sizes,
                      channels_last(sizes), 0),
          picture.blocked);
  pictures_.erase(to.storage().get());
  return true;
}

/// To a picture that a convolution wants.
bool Blocker::copy_in(const Tensor& to, const Tensor& from) {
  if (!wanted_.contains(to.storage().get()) || to.dim() < 3 || to.dim() > 4 ||
      !region_.values.contains(to.storage().get()) || !free_result(to) ||
      !last(from.sizes(), Dims(from.strides())))
    return false;
  bring_back(from);
  const Tensor made = make_blocked(to.sizes());
  const Tensor rows =
      make_tensor(from.storage(), DType::kFloat32, from.sizes(),
                  channels_last(from.sizes()), from.storage_offset());
  const Operand operands[] = {write(made), read(rows)};
  append({known::kBlockChannels, operands});
  finish(to, made);
  return true;
}

int64_t Blocker::count(IntSpan sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

/// Strides of a picture of those sizes whose channels lie last.
Dims Blocker::channels_last(IntSpan sizes) {
  Dims out(sizes.size(), 1);
  int64_t step = sizes[1];
  for (size_t d = sizes.size() - 1; d >= 2; --d) {
    out[d] = step;
    step *= sizes[d];
  }
  out[0] = step;
  return out;
}

/// True if these are strides of channels last, and no row-major ones.
bool Blocker::last(IntSpan sizes, const Dims& strides) {
  const Dims expected = channels_last(sizes);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && strides[d] != expected[d]) return false;
  return sizes[1] > 1 && count(sizes) > sizes[0] * sizes[1];
}

/// On pictures of whole blocks, whose lanes all belong to channels. The call
/// stays, and looks at the blocks.
bool Blocker::elementwise(std::unique_ptr<Node>& node) {
  const auto operands = node->call().operands();
  if (!elementwise_function(node->call().kernel())) return false;
  if (operands[0].access != Access::kWrite) return false;
  const Tensor& y = *operands[0].tensor;
  if (y.dim() < 3 || y.size(1) % kChannelBlock != 0 || alike(y.sizes()) ||
      !free_result(y))
    return false;
  std::vector<Tensor> inputs;
  for (const Operand& operand : operands.subspan(1)) {
    if (operand.object || operand.writes() || !operand.tensor->defined() ||
        !same(operand.tensor->sizes(), y.sizes()))
      return false;
    inputs.push_back(known(*operand.tensor));
    if (!inputs.back().defined()) return false;
  }
  if (inputs.empty()) return false;
  const Tensor made = make_blocked(y.sizes());
  const Tensor plain =
      make_tensor(y.storage(), y.dtype(), y.sizes(), y.strides(), 0);
  look_at(y, made);
  for (size_t i = 0; i < inputs.size(); ++i)
    look_at(*operands[i + 1].tensor, inputs[i]);
  region_.nodes.push_back(std::move(node));
  finish(plain, made);
  return true;
}

void Blocker::look_at(const Tensor& mine, const Tensor& other) {
  mine.impl()->storage = other.storage();
  mine.impl()->set_geometry(other.sizes(), other.strides(), 0);
}

bool Blocker::pad(const KernelCall& call) {
  if (!is(call, known::kPad)) return false;
  const Tensor &y = call.tensor(0), &x = call.tensor(1);
  const auto& a = call.attributes<PadAttributes>();
  if (a.mode != PadMode::kConstant || !(a.value == Scalar(0)) || x.dim() < 3 ||
      x.dim() > 4 || x.numel() == 0 || !free_result(y) ||
      !region_.values.contains(y.storage().get()))
    return false;
  for (size_t d = 0; d < size_t(x.dim()); ++d) {
    const int64_t more = y.sizes()[d] - x.sizes()[d];
    if (a.before[d] < 0 || a.before[d] > more || (d < 2 && more != 0))
      return false;
  }
  // Values that convolutions read later must still be the same.
  if (writers_.at(x.storage().get()) >
      int(region_.values.contains(x.storage().get())))
    return false;
  for (const KernelCall* user : users_.at(y.storage().get())) {
    if (user == &call) continue;
    if (!convolutions_.contains(user)) return false;
    const Convolution conv(*user);
    if (conv.x().storage() != y.storage() ||
        (conv.residual().defined() && conv.residual().storage() == y.storage()))
      return false;
  }
  padded_.insert_or_assign(
      y.storage().get(),
      Padded{make_alias(x), Dims(IntSpan(a.before).subspan(2))});
  wanted_.insert(x.storage().get());
  return true;
}

bool Blocker::has_lasting_norm(const KernelCall& call) const {
  if (!is(call, known::kBatchNorm) ||
      call.attributes<BatchNormAttributes>().training)
    return false;
  for (const size_t i : {size_t(3), size_t(4), size_t(6), size_t(7)}) {
    const Tensor& t = call.tensor(i);
    if (i < 5 && !t.defined()) return false;
    if (t.defined() && (t.dtype() != DType::kFloat32 || !t.is_contiguous() ||
                        !region_.lasts(t)))
      return false;
  }
  return true;
}

bool Blocker::normalize(const KernelCall& call) {
  if (!norms_.contains(&call)) return false;
  const Tensor &y = call.tensor(0), &x = call.tensor(5);
  if (x.dim() < 3 || x.dim() > 4 || !picture(x) || alike(x.sizes()) ||
      !free_result(y))
    return false;
  // Mean and scale of the batch are for the backward pass alone.
  for (const size_t i : {size_t(1), size_t(2)}) {
    const Storage* storage = call.tensor(i).storage().get();
    if (!region_.values.contains(storage) || users_.at(storage).size() != 1)
      return false;
  }
  const int64_t channels = x.size(1);
  const Dims taps(size_t(x.dim()) - 2, 1), none_of(size_t(x.dim()) - 2, 0);
  Dims weight_sizes{channels, 1};
  for (const int64_t one : taps) weight_sizes.push_back(one);
  const Tensor ones = allocate(weight_sizes, DType::kFloat32, Device{});
  std::fill_n(host_data<float>(ones, "graph"), channels, 1.0f);
  BlockedWeightAttributes packs;
  packs.depthwise = true;
  packs.eps = call.attributes<BatchNormAttributes>().eps;
  const Tensor packed = allocate(Dims{blocked_weight_size(weight_sizes, packs)},
                                 DType::kFloat32, Device{});
  const Tensor shift = allocate(Dims{channel_blocks(channels) * kChannelBlock},
                                DType::kFloat32, Device{});
  const Tensor none;
  const Operand parts[] = {write(packed),        write(shift),
                           read(ones),           read(none),
                           read(call.tensor(3)), read(call.tensor(4)),
                           read(call.tensor(6)), read(call.tensor(7))};
  region_.once.push_back(
      std::make_unique<Node>(KernelCall(known::kBlockedWeight, parts, packs)));

  const Tensor from = known(x), made = make_blocked(y.sizes());
  BlockedConvAttributes attributes;
  attributes.conv = {taps, none_of, taps, channels};
  attributes.kernel = taps;
  attributes.in_channels = attributes.out_channels = channels;
  attributes.depthwise = true;
  const Operand operands[] = {write(made), read(from), read(packed),
                              read(shift), read(none)};
  append({known::kBlockedConv, operands, attributes});
  finish(y, made, region_.nodes.size() - 1);
  return true;
}

}  // namespace hotaru::graph
