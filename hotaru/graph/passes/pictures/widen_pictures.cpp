#include "hotaru/graph/passes/pictures/widen_pictures.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {
namespace {

/// Calls that compute alike in float32, but for roundings, whatever their
/// attributes.
bool is_follower(const KernelCall& call) {
  using namespace known;
  return is_any(call, kBatchNorm, kMaxPool, kCat, kPad, kRelu, kSigmoid, kTanh,
                kSilu, kGelu, kGeluTanh, kHardtanh, kHardswish, kHardsigmoid,
                kClamp, kClampMin, kClampMax, kAdd, kMul);
}

class Widener {
 public:
  /// `half`: whose numbers are widened, bfloat16 or float16.
  Widener(Region& region, DType half)
      : region_(region), half_(half), chosen_(region.nodes.size(), false) {
    for (size_t n = 0; n < region.nodes.size(); ++n)
      for (const Operand& operand : call(n).operands()) {
        if (!ordered_of(operand)) continue;
        Value& value = values_[ordered_of(operand)];
        value.halves &= !operand.object && is_half(*operand.tensor);
        if (operand.writes()) value.writers.push_back(n);
        if (operand.reads()) value.readers.push_back(n);
      }
  }

  void run() {
    // As many as can be: calls drop out whose operands are not.
    chosen_.assign(chosen_.size(), true);
    for (bool changes = true; changes;) {
      changes = false;
      for (size_t n = 0; n < chosen_.size(); ++n)
        if (chosen_[n] && !(suits(n) && writes_alone(n))) {
          chosen_[n] = false;
          changes = true;
        }
    }
    if (std::find(chosen_.begin(), chosen_.end(), true) == chosen_.end())
      return;
    Nodes old = std::exchange(region_.nodes, {});
    for (size_t n = 0; n < old.size(); ++n)
      chosen_[n] ? widen(std::move(old[n]))
                 : region_.nodes.push_back(std::move(old[n]));
  }

 private:
  struct Value {
    std::vector<size_t> writers, readers;
    /// Set if all who touch it see such numbers.
    bool halves = true;
  };

  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }

  bool is_half(const Tensor& t) const {
    return t.defined() && t.dtype() == half_;
  }

  bool all_chosen(const std::vector<size_t>& nodes) const {
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](size_t n) { return chosen_[n]; });
  }

  bool suits(size_t n) const {
    const KernelCall& c = call(n);
    if (c.operands().empty() || c.operands()[0].object ||
        !is_half(c.tensor(0)) || c.tensor(0).numel() == 0)
      return false;
    return convolves(c) ? suits_convolution(c) : follows(c);
  }

  static bool convolves(const KernelCall& c) {
    return is_any(c, known::kConvForward, known::kConvData);
  }

  bool suits_convolution(const KernelCall& c) const {
    const Tensor &w = c.tensor(2), &bias = c.tensor(3);
    return w.dim() <= 4 && is_half(c.tensor(1)) && c.tensor(1).numel() > 0 &&
           region_.lasts(w) && (!bias.defined() || region_.lasts(bias));
  }

  /// Tells whether all of its operands are floats, and what it reads of 16 bits
  /// was computed by chosen calls, lasts, or is a number.
  bool follows(const KernelCall& c) const {
    if (!is_follower(c) || (is(c, known::kBatchNorm) &&
                            c.attributes<BatchNormAttributes>().training))
      return false;
    bool any = false;
    for (const Operand& operand : c.operands()) {
      if (operand.object) return false;
      const Tensor& t = *operand.tensor;
      if (!t.defined() || t.dtype() == DType::kFloat32) continue;
      if (!is_half(t)) return false;
      if (!operand.reads()) continue;
      const bool made = is_made(t);
      if (!made && t.numel() > 1 && !region_.lasts(t)) return false;
      any |= made;
    }
    return any;
  }

  /// True if chosen calls alone write the value, and before anybody reads it.
  bool is_made(const Tensor& t) const {
    const Value& value = values_.at(t.storage().get());
    return region_.values.contains(t.storage().get()) &&
           !value.writers.empty() && all_chosen(value.writers) &&
           (value.readers.empty() ||
            value.writers.front() < value.readers.front());
  }

  /// True if nobody else writes what it does.
  bool writes_alone(size_t n) const {
    for (const Operand& operand : call(n).operands()) {
      if (!operand.writes() || !is_half(*operand.tensor)) continue;
      const Value& value = values_.at(operand.tensor->storage().get());
      if (!value.halves || !all_chosen(value.writers)) return false;
    }
    return true;
  }

  void append(const Tensor& to, const Tensor& from, Nodes& nodes) {
    const Operand operands[] = {write(to), read(from)};
    nodes.push_back(std::make_unique<Node>(KernelCall(known::kCopy, operands)));
  }

  /// A tensor of the wide form of its storage.
  Tensor wide(const Tensor& t) {
    const auto [at, fresh] = wide_.try_emplace(t.storage().get());
    if (fresh)
      at->second = region_.make_value(
          Dims{int64_t(t.storage()->nbytes() / itemsize(half_))},
          DType::kFloat32);
    return make_tensor(at->second.storage(), DType::kFloat32, t.sizes(),
                       t.strides(), t.storage_offset());
  }

  /// Value that a chosen call reads, as float32.
  Tensor widened(const Tensor& t) {
    if (wide_.contains(t.storage().get())) return wide(t);
    if (region_.lasts(t)) return lasting(t);
    const Tensor made = region_.make_value(t.sizes(), DType::kFloat32);
    append(made, t, region_.nodes);
    return made;
  }

  Tensor lasting(const Tensor& t) {
    for (const auto& [from, to] : lasting_)
      if (from.storage() == t.storage() &&
          from.storage_offset() == t.storage_offset() &&
          same(from.sizes(), t.sizes()) && same(from.strides(), t.strides()))
        return to;
    const Tensor to = allocate(t.sizes(), DType::kFloat32, Device{});
    append(to, t, region_.once);
    lasting_.emplace_back(make_alias(t), to);
    return to;
  }

  void widen(std::unique_ptr<Node> node) {
    const KernelCall& c = node->call();
    std::vector<Tensor> results;  // as they were
    for (const Operand& operand : c.operands()) {
      const Tensor& t = *operand.tensor;
      if (!is_half(t)) continue;
      if (operand.writes()) results.push_back(make_alias(t));
      const Tensor now = operand.writes() ? wide(t) : widened(t);
      t.impl()->storage = now.storage();
      t.impl()->dtype = DType::kFloat32;
      t.impl()->set_geometry(now.sizes(), now.strides(), now.storage_offset());
    }
    if (convolves(c)) {
      auto attributes = c.attributes<ConvAttributes>();
      // float16 has more digits than that leaves.
      attributes.bf16 = half_ == DType::kBFloat16;
      node = std::make_unique<Node>(
          KernelCall(c.kernel(), c.operands(), attributes));
    }
    region_.nodes.push_back(std::move(node));
    for (const Tensor& result : results)
      if (!region_.values.contains(result.storage().get()) ||
          !all_chosen(values_.at(result.storage().get()).readers))
        append(result, wide(result), region_.nodes);
  }

  Region& region_;
  DType half_;
  std::vector<bool> chosen_;
  std::unordered_map<const Ordered*, Value> values_;
  std::unordered_map<const Storage*, Tensor> wide_;
  std::vector<std::pair<Tensor, Tensor>> lasting_;
};

}  // namespace

void widen_pictures(Region& region) {
  Widener(region, DType::kBFloat16).run();
  Widener(region, DType::kFloat16).run();
}

}  // namespace hotaru::graph
