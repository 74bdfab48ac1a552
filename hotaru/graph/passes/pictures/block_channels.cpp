#include "hotaru/graph/passes/pictures/block_channels.h"

#include <algorithm>

#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/pictures/blocker.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {
namespace {

// Pictures of at most so many channels are read as they are.
constexpr int64_t kFewChannels = 8;

/// True if each output sees one pixel.
bool by_one_tap(const Convolution& c) {
  const IntSpan taps = c.w().sizes().subspan(2);
  return c.attributes.conv.groups == 1 && numel_of(taps) == 1;
}

}  // namespace

Blocker::Blocker(Region& region) : region_(region) {
  for (const auto& node : region.nodes)
    for (const Operand& operand : node->call().operands())
      if (ordered_of(operand)) {
        users_[ordered_of(operand)].push_back(&node->call());
        readers_[ordered_of(operand)] += operand.reads();
        writers_[ordered_of(operand)] += operand.writes();
      }
}

void Blocker::run() {
  // While all calls are there: they tell what lasts.
  for (const auto& node : region_.nodes) {
    const KernelCall& call = node->call();
    const bool convolves = takes(call), upsamples = spreads(call);
    if (convolves) convolutions_.insert(&call);
    if (upsamples) upsamplings_.insert(&call);
    if (has_lasting_norm(call)) norms_.insert(&call);
    if (!convolves && !upsamples) continue;
    wanted_.insert(call.tensor(1).storage().get());
    comes_blocked_.insert(call.tensor(0).storage().get());
  }
  // Nodes that are replaced stay until the end: their tensors are in use.
  Nodes old = std::exchange(region_.nodes, {});
  for (auto& node : old) {
    const KernelCall& call = node->call();
    if (convolutions_.contains(&call))
      convolve(Convolution(call));
    else if (upsamplings_.contains(&call))
      upsample(call);
    else if (!pool(call) && !average_windows(call) && !repeat(call) &&
             !average(call) && !end(call) && !scale(call) && !copy(call) &&
             !join(call) && !pad(call) && !normalize(call) &&
             !elementwise(node))
      keep(node);
  }
}

/// True if a call's result may lie in blocks.
bool Blocker::free_result(const Tensor& y) const {
  if (!whole(y) || y.dtype() != DType::kFloat32) return false;
  return region_.values.contains(y.storage().get()) ||
         readers_.at(y.storage().get()) == 0;
}

bool Blocker::takes(const KernelCall& call) const {
  if (!is_any(call, known::kConvForward, known::kConvFused)) return false;
  const Convolution c(call);
  if (!c.x().defined() || c.x().dtype() != DType::kFloat32 || c.w().dim() > 4 ||
      c.x().numel() == 0 || c.y().numel() == 0)
    return false;
  const ConvAttributes& a = c.attributes.conv;
  if (a.groups != 1 && !c.depthwise() && !c.grouped()) return false;
  // Not where a quarter of the lanes would have nothing to do, unless they
  // have nothing to do for a pixel alone, or less than it takes to bring x back
  // from blocks.
  const int64_t outputs = c.y().size(1);
  if (channel_blocks(outputs) * kChannelBlock * 3 > outputs * 4 &&
      !alike(c.x().sizes()) &&
      !(by_one_tap(c) && comes_blocked_.contains(c.x().storage().get())))
    return false;
  for (size_t d = 0; d < a.stride.size(); ++d) {
    const int64_t room = c.x().sizes()[d + 2] + 2 * a.padding[d] -
                         a.dilation[d] * (c.w().sizes()[d + 2] - 1) - 1;
    if (room / a.stride[d] + 1 != c.y().sizes()[d + 2]) return false;
  }
  if (!free_result(c.y()) || !region_.lasts(c.w())) return false;
  for (size_t i = 0; i < 5; ++i)
    if (c.extra(i).defined() && !region_.lasts(c.extra(i))) return false;
  return true;
}

Dims Blocker::blocked_sizes(IntSpan sizes) {
  const int64_t height = sizes.size() == 4 ? sizes[2] : 1;
  return {sizes[0], channel_blocks(sizes[1]), height, sizes[sizes.size() - 1],
          kChannelBlock};
}

Tensor Blocker::make_blocked(IntSpan sizes) {
  return region_.make_value(blocked_sizes(sizes), DType::kFloat32);
}

Tensor Blocker::as_blocked(const Tensor& plain) {
  const Dims sizes = blocked_sizes(plain.sizes());
  return make_tensor(plain.storage(), DType::kFloat32, sizes,
                     contiguous_strides(sizes), plain.storage_offset());
}

/// Returns what is known of x as a whole, or null.
Picture* Blocker::picture(const Tensor& x) {
  const auto found = pictures_.find(x.storage().get());
  if (found == pictures_.end() || !whole(x) ||
      !same(IntSpan(found->second.sizes), x.sizes()))
    return nullptr;
  return &found->second;
}

/// x in blocks if it is known so, else undefined; for somebody who reads it.
Tensor Blocker::known(const Tensor& x) {
  Picture* const found = picture(x);
  if (!found) return {};
  found->open.reset();
  return found->blocked;
}

Tensor Blocker::blocked(const Tensor& x) {
  if (Tensor there = known(x); there.defined()) return there;
  bring_back(x);
  if (alike(x.sizes()) && x.is_contiguous()) return as_blocked(x);
  const Tensor made = make_blocked(x.sizes());
  const Operand operands[] = {write(made), read(x)};
  append({known::kBlockChannels, operands});
  // Values that others own may change through other storages.
  if (whole(x) && region_.values.contains(x.storage().get()))
    pictures_.insert_or_assign(x.storage().get(),
                               Picture{made, Dims(x.sizes()), true});
  return made;
}

/// Sees to it that the tensor's own storage holds its value.
void Blocker::bring_back(const Tensor& x) {
  const auto found = pictures_.find(x.storage().get());
  if (found == pictures_.end()) return;
  found->second.open.reset();
  if (found->second.plain) return;
  found->second.plain = true;
  const Dims& sizes = found->second.sizes;
  unblock(make_tensor(x.storage(), DType::kFloat32, sizes,
                      contiguous_strides(sizes), 0),
          found->second.blocked);
}

void Blocker::unblock(const Tensor& plain, const Tensor& from) {
  const Operand operands[] = {write(plain), read(from)};
  append({known::kUnblockChannels, operands});
}

/// The value of y is now `made`, by node `open` if that may go on.
void Blocker::finish(const Tensor& y, const Tensor& made,
                     std::optional<size_t> open) {
  const bool plain = made.storage() == y.storage();
  if (region_.values.contains(y.storage().get()))
    pictures_.insert_or_assign(y.storage().get(),
                               Picture{made, Dims(y.sizes()), plain, open});
  else if (!plain)
    unblock(y, made);
}

void Blocker::append(const KernelCall& call) {
  region_.nodes.push_back(std::make_unique<Node>(call));
}

void Blocker::convolve(const Convolution& c) {
  ConvAttributes a = c.attributes.conv;
  Tensor from = c.x();
  if (const auto at = padded_.find(from.storage().get()); at != padded_.end()) {
    from = at->second.inner;
    for (size_t d = 0; d < a.padding.size(); ++d)
      a.padding[d] += at->second.before[d];
  }
  const bool plain = !c.depthwise() && !c.grouped() && !known(from).defined() &&
                     from.size(1) <= kFewChannels;
  if (plain) bring_back(from);
  const Tensor x = plain ? from : blocked(from);
  const Tensor residual =
      c.residual().defined() ? blocked(c.residual()) : Tensor();
  const auto [packed, shift] = weight(c, plain);
  const Tensor y =
      alike(c.y().sizes()) ? as_blocked(c.y()) : make_blocked(c.y().sizes());
  const Operand operands[] = {write(y), read(x), read(packed), read(shift),
                              read(residual)};
  append({known::kBlockedConv, operands,
          BlockedConvAttributes{
              a, Dims(c.w().sizes().subspan(2)), from.size(1), c.y().size(1),
              c.attributes.relu ? ConvEnding::relu() : ConvEnding(), plain,
              c.depthwise()}});
  std::optional<size_t> open;
  if (!c.attributes.relu) open = region_.nodes.size() - 1;
  finish(c.y(), y, open);
}

/// The weight as "blocked_conv" wants it, made once; the same for calls that
/// share it.
std::pair<Tensor, Tensor> Blocker::weight(const Convolution& c, bool plain) {
  Key key{
      {reinterpret_cast<uintptr_t>(c.w().address())}, c.attributes.eps, plain};
  for (size_t i = 0; i < 5; ++i)
    key.addresses.push_back(
        c.extra(i).defined() ? reinterpret_cast<uintptr_t>(c.extra(i).address())
                             : 0);
  key.addresses.push_back(uintptr_t(c.attributes.conv.groups));
  for (const int64_t size : c.w().sizes())
    key.addresses.push_back(uintptr_t(size));
  const auto [at, fresh] = weights_.try_emplace(key);
  auto& [packed, shift] = at->second;
  if (!fresh) return at->second;
  BlockedWeightAttributes attributes{c.depthwise(), plain, c.attributes.eps};
  if (c.grouped()) attributes.groups = c.attributes.conv.groups;
  packed = allocate(Dims{blocked_weight_size(c.w().sizes(), attributes)},
                    DType::kFloat32, Device{});
  shift = allocate(Dims{channel_blocks(c.y().size(1)) * kChannelBlock},
                   DType::kFloat32, Device{});
  const Operand operands[] = {
      write(packed),    write(shift),     read(c.w()),      read(c.extra(0)),
      read(c.extra(1)), read(c.extra(2)), read(c.extra(3)), read(c.extra(4))};
  region_.once.push_back(std::make_unique<Node>(
      KernelCall(known::kBlockedWeight, operands, attributes)));
  return at->second;
}

/// Any other call, on plain values.
void Blocker::keep(std::unique_ptr<Node>& node) {
  const auto tensors = [&](const auto& f) {
    for (const Operand& operand : node->call().operands())
      if (ordered_of(operand) && !operand.object) f(operand, *operand.tensor);
  };
  // Values written in place are read by a later operand.
  tensors([&](const Operand& operand, const Tensor& t) {
    if (operand.reads() || !whole(t)) bring_back(t);
  });
  tensors([&](const Operand& operand, const Tensor& t) {
    if (operand.writes()) pictures_.erase(t.storage().get());
  });
  region_.nodes.push_back(std::move(node));
}

void block_channels(Region& region) {
  Blocker(region).run();
}

}  // namespace hotaru::graph
