#include "hotaru/graph/passes/pictures/fuse_conv.h"

#include <algorithm>

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/uses.h"

namespace hotaru::graph {
namespace {

/// A convolution and what it took along so far.
struct Chain {
  const KernelCall* conv;
  const KernelCall* norm = nullptr;
  Tensor residual;
  bool relu = false;
  /// The nodes that it replaces, ascending, and what the last one writes.
  std::vector<size_t> nodes;
  Tensor result;
};

class Fuser {
 public:
  explicit Fuser(Region& region) : region_(region), uses_(region) {}

  void run() {
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (region_.nodes[n] && is(call(n), known::kConvForward)) try_at(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  const KernelCall& call(size_t n) const { return uses_.call(n); }

  void try_at(size_t n) {
    const KernelCall& conv = call(n);
    const DType dtype = conv.tensor(0).dtype();
    if (dtype != DType::kFloat32 && dtype != DType::kFloat64) return;
    if (conv.tensor(1).numel() == 0 || conv.tensor(0).numel() == 0) return;
    Chain chain{&conv, nullptr, {}, false, {n}, make_alias(conv.tensor(0))};
    while (!chain.relu && extend(chain)) {
    }
    if (chain.nodes.size() > 1) replace(chain);
  }

  /// Takes the next node along; false if that can't be.
  bool extend(Chain& chain) {
    if (!whole(chain.result)) return false;
    const auto next = uses_.only_user(chain.result, chain.nodes.back());
    if (!next || !takes(chain, call(*next), *next)) return false;
    chain.nodes.push_back(*next);
    chain.result = make_alias(call(*next).tensor(0));
    return true;
  }

  bool takes(Chain& chain, const KernelCall& user, size_t n) {
    const Tensor& in = chain.result;
    if (!user.tensor(0).defined() || !same_layout(user.tensor(0), in))
      return false;
    if (is(user, known::kRelu)) {
      if (!same_layout(user.tensor(1), in)) return false;
      return chain.relu = true;
    }
    if (is(user, known::kAdd) && !chain.residual.defined()) {
      if (user.attributes<PointwiseNumbers>().a.to_double() != 1) return false;
      const bool first = user.tensor(1).storage() == in.storage();
      const Tensor &mine = user.tensor(first ? 1 : 2),
                   &other = user.tensor(first ? 2 : 1);
      if (!same_layout(mine, in) || !same_layout(other, in) ||
          other.storage() == in.storage() || !unchanged(chain, n, other))
        return false;
      chain.residual = make_alias(other);
      return true;
    }
    return is(user, known::kBatchNorm) && takes_norm(chain, user);
  }

  bool takes_norm(Chain& chain, const KernelCall& user) {
    if (chain.norm || chain.residual.defined() ||
        user.attributes<BatchNormAttributes>().training ||
        !same_layout(user.tensor(5), chain.result))
      return false;
    // Mean and scale of the batch are for the backward pass alone.
    for (const size_t i : {size_t(1), size_t(2)}) {
      const Tensor& t = user.tensor(i);
      if (!region_.values.contains(t.storage().get()) ||
          uses_.of(t).size() != 1)
        return false;
    }
    for (const size_t i : {size_t(3), size_t(4)})
      if (!user.tensor(i).defined()) return false;
    for (const size_t i : {size_t(3), size_t(4), size_t(6), size_t(7)}) {
      const Tensor& t = user.tensor(i);
      if (t.defined() &&
          (t.dtype() != chain.result.dtype() || !t.is_contiguous()))
        return false;
    }
    chain.norm = &user;
    return true;
  }

  /// Tells whether nobody writes the tensor from the convolution on to node n:
  /// the fused call stands where the last of its nodes stood.
  bool unchanged(const Chain& chain, size_t n, const Tensor& t) const {
    if (!t.defined()) return true;
    for (const size_t user : uses_.of(t)) {
      if (user <= chain.nodes.front() || user >= n || !region_.nodes[user])
        continue;
      for (const Operand& operand : call(user).operands())
        if (!operand.object && operand.writes() && operand.tensor->defined() &&
            operand.tensor->storage() == t.storage() &&
            !is(call(user), known::kBatchNorm))
          return false;
    }
    return true;
  }

  void replace(const Chain& chain) {
    const KernelCall& conv = *chain.conv;
    const size_t last = chain.nodes.back();
    for (size_t i = 1; i <= 3; ++i)
      if (!unchanged(chain, last, conv.tensor(i))) return;
    if (!unchanged(chain, last, chain.residual)) return;
    for (const size_t i : {size_t(3), size_t(4), size_t(6), size_t(7)})
      if (chain.norm && !unchanged(chain, last, chain.norm->tensor(i))) return;
    const Tensor none;
    ConvFusedAttributes attributes{conv.attributes<ConvAttributes>(), 0,
                                   chain.relu};
    if (chain.norm)
      attributes.eps = chain.norm->attributes<BatchNormAttributes>().eps;
    const auto of_norm = [&](size_t i) -> const Tensor& {
      return chain.norm ? chain.norm->tensor(i) : none;
    };
    const Operand operands[] = {
        write(chain.result),  read(conv.tensor(1)), read(conv.tensor(2)),
        read(conv.tensor(3)), read(of_norm(3)),     read(of_norm(4)),
        read(of_norm(6)),     read(of_norm(7)),     read(chain.residual)};
    auto made = std::make_unique<Node>(
        KernelCall(known::kConvFused, operands, attributes));
    for (const size_t n : chain.nodes) region_.nodes[n].reset();
    region_.nodes[last] = std::move(made);
  }

  Region& region_;
  Uses uses_;
};

}  // namespace

void fuse_conv(Region& region) {
  Fuser(region).run();
}

}  // namespace hotaru::graph
