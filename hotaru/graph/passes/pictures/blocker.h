// How block_channels goes through a region's calls.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/passes.h"

namespace hotaru::graph {

/// A call of "conv_forward" or "conv_fused".
struct Convolution {
  explicit Convolution(const KernelCall& call)
      : call(call),
        attributes(is(call, known::kConvFused)
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

  /// In more than one group, each in blocks.
  bool grouped() const {
    const int64_t groups = attributes.conv.groups;
    return groups > 1 && !depthwise() &&
           blocked_groups(x().size(1) / groups, y().size(1) / groups);
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

/// A picture of one pixel and whole blocks, which lies alike in both forms.
inline bool alike(IntSpan sizes) {
  int64_t pixels = 1;
  for (size_t d = 2; d < sizes.size(); ++d) pixels *= sizes[d];
  return pixels == 1 && sizes[1] % kChannelBlock == 0;
}

/// Replaces calls by those on pictures in blocks, in the order of the calls.
/// What it knows of a value, and which form of it is there, is in `pictures_`.
class Blocker {
 public:
  explicit Blocker(Region& region);
  void run();

 private:
  /// True if a call's result may lie in blocks.
  bool free_result(const Tensor& y) const;
  bool takes(const KernelCall& call) const;
  static Dims blocked_sizes(IntSpan sizes);
  Tensor make_blocked(IntSpan sizes);
  static Tensor as_blocked(const Tensor& plain);
  /// Returns what is known of x as a whole, or null.
  Picture* picture(const Tensor& x);
  /// x in blocks if it is known so, else undefined; for somebody who reads it.
  Tensor known(const Tensor& x);
  Tensor blocked(const Tensor& x);
  /// Sees to it that the tensor's own storage holds its value.
  void bring_back(const Tensor& x);
  void unblock(const Tensor& plain, const Tensor& from);
  /// The value of y is now `made`, by node `open` if that may go on.
  void finish(const Tensor& y, const Tensor& made,
              std::optional<size_t> open = {});
  void append(const KernelCall& call);
  void convolve(const Convolution& c);
  /// The weight as "blocked_conv" wants it, made once; the same for calls that
  /// share it.
  std::pair<Tensor, Tensor> weight(const Convolution& c, bool plain);
  /// Pictures of whole blocks one behind the other, of which one is in blocks.
  bool join(const KernelCall& call);
  /// True if each pixel becomes a rectangle of its own, of whole blocks.
  bool spreads(const KernelCall& call) const;
  /// A convolution by one tap whose outputs are all pixels of a rectangle,
  /// which a copy brings to their places.
  void upsample(const KernelCall& call);
  /// [c, o, kh, kw] as a packed weight of o * kh * kw outputs, and its shift.
  std::pair<Tensor, Tensor> weight_of_taps(const Tensor& w, const Tensor& bias,
                                           int64_t kh, int64_t kw);
  bool pool(const KernelCall& call);
  bool average_windows(const KernelCall& call);
  bool repeat(const KernelCall& call);
  template <class Attributes>
  bool pool(const Tensor& y, const Tensor& x, const Kernel& kernel,
            const Attributes& a);
  /// The mean of each channel: a plain value.
  bool average(const KernelCall& call);
  /// Goes on within a convolution whose result nobody else wants.
  bool end(const KernelCall& call);
  /// A picture times a number for each channel.
  bool scale(const KernelCall& call);
  /// A copy that puts a picture's channels last, or those back.
  bool copy(const KernelCall& call);
  /// From a picture whose blocks are known.
  bool copy_out(const Tensor& to, const Tensor& from);
  /// To a picture that a convolution wants.
  bool copy_in(const Tensor& to, const Tensor& from);
  static int64_t count(IntSpan sizes);
  /// Strides of a picture of those sizes whose channels lie last.
  static Dims channels_last(IntSpan sizes);
  /// True if these are strides of channels last, and no row-major ones.
  static bool last(IntSpan sizes, const Dims& strides);
  /// Zeros around a picture that convolutions alone read: their padding.
  bool pad(const KernelCall& call);
  /// True if what a norm in evaluation computes with lasts.
  bool has_lasting_norm(const KernelCall& call) const;
  /// A norm in evaluation that follows no convolution: a depthwise one by one
  /// tap.
  bool normalize(const KernelCall& call);
  /// On pictures of whole blocks, whose lanes all belong to channels. The call
  /// stays, and looks at the blocks.
  bool elementwise(std::unique_ptr<Node>& node);
  static void look_at(const Tensor& mine, const Tensor& other);
  /// Any other call, on plain values.
  void keep(std::unique_ptr<Node>& node);
  /// Picture within zeros that were not made, and how many lie in front.
  struct Padded {
    Tensor inner;
    Dims before;
  };
  struct Key {
    std::vector<uintptr_t> addresses;
    double eps;
    bool plain;
    auto operator<=>(const Key&) const = default;
  };
  Region& region_;
  std::unordered_map<const Ordered*, int> readers_, writers_;
  /// Calls that are replaced whatever their operands lie like, or may be.
  std::unordered_set<const KernelCall*> convolutions_, upsamplings_, norms_;
  /// Storages read by convolutions that will be blocked.
  std::unordered_set<const Storage*> wanted_;
  /// Storages that convolutions and upsamplings that are replaced write.
  std::unordered_set<const Storage*> comes_blocked_;
  std::unordered_map<const Ordered*, std::vector<const KernelCall*>> users_;
  std::unordered_map<const Storage*, Picture> pictures_;
  std::unordered_map<const Storage*, Padded> padded_;
  std::map<Key, std::pair<Tensor, Tensor>> weights_;
};

}  // namespace hotaru::graph
