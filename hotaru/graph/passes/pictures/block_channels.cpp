#include "hotaru/graph/passes/pictures/block_channels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/backend/common/elementwise.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/backend/common/reduce/reduce.h"
#include "hotaru/backend/common/shape/join.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

// Pictures of at most so many channels are read as they are.
constexpr int64_t kFewChannels = 8;

/// A call of "conv_forward" or "conv_fused".
struct Convolution {
  explicit Convolution(const KernelCall& call)
      : call(call),
        attributes(call.kernel().name() == "conv_fused"
                       ? call.attributes<ConvFusedAttributes>()
                       : ConvFusedAttributes{call.attributes<ConvAttributes>(),
                                             0, false}) {}

  const Tensor& y() const { return call.tensor(0); }
  const Tensor& x() const { return call.tensor(1); }
  const Tensor& w() const { return call.tensor(2); }
  /// Bias; mean, variance, weight and bias of the norm; residual.
  const Tensor& extra(size_t i) const {
    static const Tensor none;
    return call.operands().size() > i + 3 ? call.tensor(i + 3) : none;
  }
  const Tensor& residual() const { return extra(5); }
  bool depthwise() const {
    return attributes.conv.groups > 1 &&
           attributes.conv.groups == x().size(1) && y().size(1) == x().size(1);
  }

  const KernelCall& call;
  const ConvFusedAttributes attributes;
};

/// A value of the graph in blocks of channels.
struct Picture {
  Tensor blocked;
  Dims sizes;  // of the plain one
  bool plain;  // whether its own storage holds it, too
  /// Which node made it, if that is a convolution without an ending.
  std::optional<size_t> open = {};
};

/// What an elementwise call of one operand is as the end of a convolution.
std::optional<ConvEnding> ending_of(const KernelCall& call) {
  using Kind = ConvEnding::Kind;
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"sigmoid", Kind::kSigmoid},     {"tanh", Kind::kTanh},
      {"silu", Kind::kSilu},           {"gelu", Kind::kGelu},
      {"gelu_tanh", Kind::kGeluTanh},  {"hardsigmoid", Kind::kHardSigmoid},
      {"hardswish", Kind::kHardSwish},
  };
  const std::string& name = call.kernel().name();
  for (const auto& [known, kind] : kKinds)
    if (name == known) return ConvEnding{kind};
  if (name == "relu") return ConvEnding::relu();
  const bool low = name == "clamp_min", high = name == "clamp_max";
  if (!low && !high && name != "clamp" && name != "hardtanh") return {};
  const auto& n = call.attributes<PointwiseNumbers>();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const ConvEnding out{Kind::kClamp, high ? -kInfinity : n.a.to<float>(),
                       low ? kInfinity : n.b.to<float>()};
  // "hardtanh" looks at its lower limit first, "clamp" at it last.
  if (name == "hardtanh" && !(out.low <= out.high)) return {};
  return out;
}

/// A picture of one pixel and whole blocks, which lies alike in both forms.
bool alike(IntSpan sizes) {
  int64_t pixels = 1;
  for (size_t d = 2; d < sizes.size(); ++d) pixels *= sizes[d];
  return pixels == 1 && sizes[1] % kChannelBlock == 0;
}

class Blocker {
 public:
  explicit Blocker(Region& region) : region_(region) {
    for (const auto& node : region.nodes)
      for (const Operand& operand : node->call().operands())
        if (operand.ordered()) {
          readers_[operand.ordered()] += operand.reads();
          writers_[operand.ordered()] += operand.writes();
        }
  }

  void run() {
    std::vector<bool> convolutions;
    for (const auto& node : region_.nodes) {
      convolutions.push_back(takes(node->call()));
      if (convolutions.back() || upsamples(node->call()))
        wanted_.insert(node->call().tensor(1).storage().get());
    }
    // Those that are replaced stay until the end: their tensors are in use.
    Nodes old = std::exchange(region_.nodes, {});
    for (size_t i = 0; i < old.size(); ++i) {
      const KernelCall& call = old[i]->call();
      if (convolutions[i])
        convolve(Convolution(call));
      else if (!pool(call) && !average(call) && !end(call) && !scale(call) &&
               !copy(call) && !join(call) && !upsample(call) &&
               !elementwise(old[i]))
        keep(old[i]);
    }
  }

 private:
  // --- what can be done ------------------------------------------------------

  /// Whether a call's result may lie in blocks.
  bool free_result(const Tensor& y) const {
    if (!whole(y) || y.dtype() != DType::kFloat32) return false;
    return region_.values.contains(y.storage().get()) ||
           readers_.at(y.storage().get()) == 0;
  }

  bool takes(const KernelCall& call) const {
    const std::string& name = call.kernel().name();
    if (name != "conv_forward" && name != "conv_fused") return false;
    const Convolution c(call);
    if (!c.x().defined() || c.x().dtype() != DType::kFloat32 ||
        c.w().dim() > 4 || c.x().numel() == 0 || c.y().numel() == 0)
      return false;
    const ConvAttributes& a = c.attributes.conv;
    if (a.groups != 1 && !c.depthwise()) return false;
    // Not where a quarter of the lanes would have nothing to do, unless they
    // have nothing to do for a pixel alone.
    const int64_t outputs = c.y().size(1);
    if (channel_blocks(outputs) * kChannelBlock * 3 > outputs * 4 &&
        !alike(c.x().sizes()))
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

  // --- pictures --------------------------------------------------------------

  static Dims blocked_sizes(IntSpan sizes) {
    const int64_t height = sizes.size() == 4 ? sizes[2] : 1;
    return {sizes[0], channel_blocks(sizes[1]), height, sizes[sizes.size() - 1],
            kChannelBlock};
  }

  Tensor make_blocked(IntSpan sizes) {
    return region_.make_value(blocked_sizes(sizes), DType::kFloat32);
  }

  static Tensor as_blocked(const Tensor& plain) {
    const Dims sizes = blocked_sizes(plain.sizes());
    return make_tensor(plain.storage(), DType::kFloat32, sizes,
                       contiguous_strides(sizes), plain.storage_offset());
  }

  /// What is known of x as a whole, or null.
  Picture* picture(const Tensor& x) {
    const auto found = pictures_.find(x.storage().get());
    if (found == pictures_.end() || !whole(x) ||
        !same(IntSpan(found->second.sizes), x.sizes()))
      return nullptr;
    return &found->second;
  }

  /// x in blocks if it is known so, else undefined; for somebody who reads it.
  Tensor known(const Tensor& x) {
    Picture* const found = picture(x);
    if (!found) return {};
    found->open.reset();
    return found->blocked;
  }

  Tensor blocked(const Tensor& x) {
    if (Tensor there = known(x); there.defined()) return there;
    bring_back(x);
    if (alike(x.sizes()) && x.is_contiguous()) return as_blocked(x);
    const Tensor made = make_blocked(x.sizes());
    static const Kernel& kernel = hotaru::kernel("block_channels");
    const Operand operands[] = {write(made), read(x)};
    append({kernel, operands});
    // What others own may change through other storages.
    if (whole(x) && region_.values.contains(x.storage().get()))
      pictures_.insert_or_assign(x.storage().get(),
                                 Picture{made, Dims(x.sizes()), true});
    return made;
  }

  /// Sees to it that the tensor's own storage holds its value.
  void bring_back(const Tensor& x) {
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

  void unblock(const Tensor& plain, const Tensor& from) {
    static const Kernel& kernel = hotaru::kernel("unblock_channels");
    const Operand operands[] = {write(plain), read(from)};
    append({kernel, operands});
  }

  /// The value of y is now `made`, by node `open` if that may go on.
  void finish(const Tensor& y, const Tensor& made,
              std::optional<size_t> open = {}) {
    const bool plain = made.storage() == y.storage();
    if (region_.values.contains(y.storage().get()))
      pictures_.insert_or_assign(y.storage().get(),
                                 Picture{made, Dims(y.sizes()), plain, open});
    else if (!plain)
      unblock(y, made);
  }

  // --- calls -----------------------------------------------------------------

  void append(const KernelCall& call) {
    region_.nodes.push_back(std::make_unique<Node>(call));
  }

  void convolve(const Convolution& c) {
    const ConvAttributes& a = c.attributes.conv;
    const bool plain = !c.depthwise() && !known(c.x()).defined() &&
                       c.x().size(1) <= kFewChannels;
    if (plain) bring_back(c.x());
    const Tensor x = plain ? c.x() : blocked(c.x());
    const Tensor residual =
        c.residual().defined() ? blocked(c.residual()) : Tensor();
    const auto [packed, shift] = weight(c, plain);
    const Tensor y =
        alike(c.y().sizes()) ? as_blocked(c.y()) : make_blocked(c.y().sizes());
    static const Kernel& kernel = hotaru::kernel("blocked_conv");
    const Operand operands[] = {write(y), read(x), read(packed), read(shift),
                                read(residual)};
    append({kernel, operands,
            BlockedConvAttributes{
                a, Dims(c.w().sizes().subspan(2)), c.x().size(1), c.y().size(1),
                c.attributes.relu ? ConvEnding::relu() : ConvEnding(), plain,
                c.depthwise()}});
    std::optional<size_t> open;
    if (!c.attributes.relu) open = region_.nodes.size() - 1;
    finish(c.y(), y, open);
  }

  /// The weight as "blocked_conv" wants it, made once; the same for calls that
  /// share it.
  std::pair<Tensor, Tensor> weight(const Convolution& c, bool plain) {
    Key key{{reinterpret_cast<uintptr_t>(c.w().address())},
            c.attributes.eps,
            plain};
    for (size_t i = 0; i < 5; ++i)
      key.addresses.push_back(
          c.extra(i).defined()
              ? reinterpret_cast<uintptr_t>(c.extra(i).address())
              : 0);
    for (const int64_t size : c.w().sizes())
      key.addresses.push_back(uintptr_t(size));
    const auto [at, fresh] = weights_.try_emplace(key);
    auto& [packed, shift] = at->second;
    if (!fresh) return at->second;
    const BlockedWeightAttributes attributes{c.depthwise(), plain,
                                             c.attributes.eps};
    packed = allocate(Dims{blocked_weight_size(c.w().sizes(), attributes)},
                      DType::kFloat32, Device{});
    shift = allocate(Dims{channel_blocks(c.y().size(1)) * kChannelBlock},
                     DType::kFloat32, Device{});
    static const Kernel& kernel = hotaru::kernel("blocked_weight");
    const Operand operands[] = {
        write(packed),    write(shift),     read(c.w()),      read(c.extra(0)),
        read(c.extra(1)), read(c.extra(2)), read(c.extra(3)), read(c.extra(4))};
    region_.once.push_back(
        std::make_unique<Node>(KernelCall(kernel, operands, attributes)));
    return at->second;
  }

  /// Pictures of whole blocks one behind the other, of which one is in blocks.
  bool join(const KernelCall& call) {
    if (call.kernel().name() != "cat" ||
        call.attributes<CatAttributes>().dim != 1)
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

  // --- transposed convolutions
  // ------------------------------------------------

  /// Whether each pixel becomes a rectangle of its own, of whole blocks.
  bool upsamples(const KernelCall& call) const {
    if (call.kernel().name() != "conv_data") return false;
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
  bool upsample(const KernelCall& call) {
    if (!upsamples(call)) return false;
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
    static const Kernel& conv = hotaru::kernel("blocked_conv");
    const Tensor none;
    const Operand operands[] = {write(t), read(x), read(packed), read(shift),
                                read(none)};
    BlockedConvAttributes attributes;
    attributes.conv = {ones, zeros, ones, 1,
                       call.attributes<ConvAttributes>().bf16};
    attributes.kernel = ones;
    attributes.in_channels = c;
    attributes.out_channels = kh * kw * o;
    append({conv, operands, attributes});

    const Tensor made = make_blocked(y.sizes());
    // The blocks of an output channel block's taps lie together.
    const Dims sizes{n * o / kChannelBlock, h, kh, width, kw, kChannelBlock};
    const int64_t row = width * kChannelBlock, tap = h * row;
    const Tensor taken = make_tensor(
        t.storage(), DType::kFloat32, sizes,
        Dims{kh * kw * tap, row, kw * tap, kChannelBlock, tap, 1}, 0);
    const Tensor placed = make_tensor(made.storage(), DType::kFloat32, sizes,
                                      contiguous_strides(sizes), 0);
    static const Kernel& copy = hotaru::kernel("copy_");
    const Operand moves[] = {write(placed), read(taken)};
    append({copy, moves});
    finish(y, made);
    return true;
  }

  /// [c, o, kh, kw] as a packed weight of o * kh * kw outputs, and its shift.
  std::pair<Tensor, Tensor> weight_of_taps(const Tensor& w, const Tensor& bias,
                                           int64_t kh, int64_t kw) {
    static const Kernel& copy = hotaru::kernel("copy_");
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
      once(copy, operands);
      return make_tensor(to.storage(), DType::kFloat32, as,
                         contiguous_strides(as), 0);
    };
    const IntSpan steps = w.strides();
    const int64_t blocks = o / kChannelBlock, of_o = steps[1];
    const Tensor taps = copied(
        w, Dims{blocks, kh, kw, kChannelBlock, c},
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
    static const Kernel& pack = hotaru::kernel("blocked_weight");
    const Tensor none;
    const Operand operands[] = {write(packed), write(shift), read(taps),
                                read(biases),  read(none),   read(none),
                                read(none),    read(none)};
    once(pack, operands, BlockedWeightAttributes());
    return {packed, shift};
  }

  bool pool(const KernelCall& call) {
    if (call.kernel().name() != "max_pool" || call.tensor(1).defined())
      return false;
    const Tensor &y = call.tensor(0), &x = call.tensor(2);
    const auto& a = call.attributes<MaxPoolAttributes>();
    const Tensor from = known(x);
    if (!from.defined() || !free_result(y) || a.adaptive || a.dims > 2 ||
        x.dim() != a.dims + 2)
      return false;
    const Tensor made = make_blocked(y.sizes());
    static const Kernel& kernel = hotaru::kernel("blocked_max_pool");
    const Operand operands[] = {write(made), read(from)};
    append({kernel, operands, a});
    finish(y, made);
    return true;
  }

  /// The mean of each channel: a plain value.
  bool average(const KernelCall& call) {
    if (call.kernel().name() != "sum") return false;
    const Tensor &y = call.tensor(0), &x = call.tensor(1);
    const auto& a = call.attributes<SumAttributes>();
    const Tensor from = known(x);
    if (!from.defined() || !a.mean || a.skip_nan || !whole(y) ||
        y.dtype() != x.dtype() || y.dim() != x.dim() ||
        y.numel() != y.size(0) * y.size(1) || y.size(0) != x.size(0) ||
        y.size(1) != x.size(1))
      return false;
    static const Kernel& kernel = hotaru::kernel("blocked_mean");
    const Operand operands[] = {write(y), read(from)};
    append({kernel, operands});
    pictures_.erase(y.storage().get());
    return true;
  }

  /// What nobody else wants of a convolution goes on within it.
  bool end(const KernelCall& call) {
    const std::optional<ConvEnding> ending = ending_of(call);
    if (!ending) return false;
    const Tensor &y = call.tensor(0), &x = call.tensor(1);
    Picture* const from = picture(x);
    if (!from || !from->open || !free_result(y) ||
        !same(y.sizes(), x.sizes()) ||
        (y.storage() != x.storage() && readers_.at(x.storage().get()) > 1))
      return false;
    std::unique_ptr<Node>& node = region_.nodes[*from->open];
    const KernelCall& conv = node->call();
    // Where the result itself is wanted in this form, it is written at once.
    const bool at_once =
        alike(y.sizes()) && writers_.at(y.storage().get()) == 1;
    const Tensor made = at_once ? as_blocked(y) : from->blocked;
    std::vector<Operand> operands(conv.operands().begin(),
                                  conv.operands().end());
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
  bool scale(const KernelCall& call) {
    if (call.kernel().name() != "mul" || call.operands().size() != 3)
      return false;
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
    static const Kernel& kernel = hotaru::kernel("blocked_scale");
    const Operand operands[] = {write(made), read(from), read(scales)};
    append({kernel, operands});
    finish(y, made);
    return true;
  }

  /// A copy that puts a picture's channels last, or those back.
  bool copy(const KernelCall& call) {
    if (call.kernel().name() != "copy_") return false;
    const Tensor &to = call.tensor(0), &from = call.tensor(1);
    if (to.dtype() != DType::kFloat32 || from.dtype() != DType::kFloat32 ||
        !same(to.sizes(), from.sizes()) || from.storage() == to.storage())
      return false;
    return copy_out(to, from) || copy_in(to, from);
  }

  /// From a picture whose blocks are known.
  bool copy_out(const Tensor& to, const Tensor& from) {
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
  bool copy_in(const Tensor& to, const Tensor& from) {
    if (!wanted_.contains(to.storage().get()) || to.dim() < 3 || to.dim() > 4 ||
        !region_.values.contains(to.storage().get()) || !free_result(to) ||
        !last(from.sizes(), Dims(from.strides())))
      return false;
    bring_back(from);
    const Tensor made = make_blocked(to.sizes());
    static const Kernel& kernel = hotaru::kernel("block_channels");
    const Tensor rows =
        make_tensor(from.storage(), DType::kFloat32, from.sizes(),
                    channels_last(from.sizes()), from.storage_offset());
    const Operand operands[] = {write(made), read(rows)};
    append({kernel, operands});
    finish(to, made);
    return true;
  }

  static int64_t count(IntSpan sizes) {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    return n;
  }

  /// Strides of a picture of those sizes whose channels lie last.
  static Dims channels_last(IntSpan sizes) {
    Dims out(sizes.size(), 1);
    int64_t step = sizes[1];
    for (size_t d = sizes.size() - 1; d >= 2; --d) {
      out[d] = step;
      step *= sizes[d];
    }
    out[0] = step;
    return out;
  }

  /// Whether these are such strides, and no row-major ones.
  static bool last(IntSpan sizes, const Dims& strides) {
    const Dims expected = channels_last(sizes);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] != 1 && strides[d] != expected[d]) return false;
    return sizes[1] > 1 && count(sizes) > sizes[0] * sizes[1];
  }

  /// On pictures of whole blocks, whose lanes all belong to channels. The call
  /// stays, and looks at the blocks.
  bool elementwise(std::unique_ptr<Node>& node) {
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

  static void look_at(const Tensor& mine, const Tensor& other) {
    mine.impl()->storage = other.storage();
    mine.impl()->set_geometry(other.sizes(), other.strides(), 0);
  }

  /// Any other call, on plain values.
  void keep(std::unique_ptr<Node>& node) {
    const auto tensors = [&](const auto& f) {
      for (const Operand& operand : node->call().operands())
        if (operand.ordered() && !operand.object) f(operand, *operand.tensor);
    };
    // What is written in place is read by a later operand.
    tensors([&](const Operand& operand, const Tensor& t) {
      if (operand.reads() || !whole(t)) bring_back(t);
    });
    tensors([&](const Operand& operand, const Tensor& t) {
      if (operand.writes()) pictures_.erase(t.storage().get());
    });
    region_.nodes.push_back(std::move(node));
  }

  struct Key {
    std::vector<uintptr_t> addresses;
    double eps;
    bool plain;
    auto operator<=>(const Key&) const = default;
  };

  Region& region_;
  std::unordered_map<const Ordered*, int> readers_, writers_;
  /// What convolutions read that will be blocked.
  std::unordered_set<const Storage*> wanted_;
  std::unordered_map<const Storage*, Picture> pictures_;
  std::map<Key, std::pair<Tensor, Tensor>> weights_;
};

}  // namespace

void block_channels(Region& region) {
  Blocker(region).run();
}

}  // namespace hotaru::graph
