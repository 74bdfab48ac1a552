#include "hotaru/graph/passes/pictures/fuse_conv.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/graph/capture/touch.h"

namespace hotaru::graph {
namespace {

const Kernel& kFused = kernel("conv_fused");

bool same_geometry(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.impl()->sizes == b.impl()->sizes &&
         a.impl()->strides == b.impl()->strides &&
         a.storage_offset() == b.storage_offset();
}

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
  explicit Fuser(Region& region) : region_(region) {
    for (size_t n = 0; n < region.nodes.size(); ++n)
      for (const Operand& operand : call(n).operands()) {
        if (operand.object || !operand.tensor->defined()) continue;
        std::vector<size_t>& users = users_[operand.tensor->storage().get()];
        if (users.empty() || users.back() != n) users.push_back(n);
      }
  }

  void run() {
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (region_.nodes[n] && region_.nodes[n]->name() == "conv_forward")
        try_at(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }

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
    const Storage* storage = chain.result.storage().get();
    if (!region_.values.contains(storage) || !whole(chain.result)) return false;
    const std::vector<size_t>& users = users_.at(storage);
    const auto next =
        std::upper_bound(users.begin(), users.end(), chain.nodes.back());
    if (next == users.end() || !region_.nodes[*next]) return false;
    const KernelCall& user = call(*next);
    const Tensor& out = user.tensor(0);
    // Nobody else may want what goes in; in place there is nothing to want.
    const bool in_place =
        out.defined() && out.storage() == chain.result.storage();
    if (!in_place && next + 1 != users.end()) return false;
    if (!takes(chain, user, *next)) return false;
    chain.nodes.push_back(*next);
    chain.result = make_alias(out);
    return true;
  }

  bool takes(Chain& chain, const KernelCall& user, size_t n) {
    const std::string& name = user.kernel().name();
    const Tensor& in = chain.result;
    if (!user.tensor(0).defined() || !same_geometry(user.tensor(0), in))
      return false;
    if (name == "relu") {
      if (!same_geometry(user.tensor(1), in)) return false;
      return chain.relu = true;
    }
    if (name == "add" && !chain.residual.defined()) {
      if (user.attributes<PointwiseNumbers>().a.to_double() != 1) return false;
      const bool first = user.tensor(1).storage() == in.storage();
      const Tensor &mine = user.tensor(first ? 1 : 2),
                   &other = user.tensor(first ? 2 : 1);
      if (!same_geometry(mine, in) || !same_geometry(other, in) ||
          other.storage() == in.storage() || !unchanged(chain, n, other))
        return false;
      chain.residual = make_alias(other);
      return true;
    }
    return name == "batch_norm" && takes_norm(chain, user);
  }

  bool takes_norm(Chain& chain, const KernelCall& user) {
    if (chain.norm || chain.residual.defined() ||
        user.attributes<BatchNormAttributes>().training ||
        !same_geometry(user.tensor(5), chain.result))
      return false;
    // Mean and scale of the batch are for the backward pass alone.
    for (const size_t i : {size_t(1), size_t(2)}) {
      const Storage* storage = user.tensor(i).storage().get();
      if (!region_.values.contains(storage) || users_.at(storage).size() != 1)
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

  /// Whether nobody writes the tensor from the convolution on to node n: the
  /// fused call stands where the last of its nodes stood.
  bool unchanged(const Chain& chain, size_t n, const Tensor& t) const {
    if (!t.defined()) return true;
    for (const size_t user : users_.at(t.storage().get())) {
      if (user <= chain.nodes.front() || user >= n || !region_.nodes[user])
        continue;
      for (const Operand& operand : call(user).operands())
        if (!operand.object && operand.writes() && operand.tensor->defined() &&
            operand.tensor->storage() == t.storage() &&
            call(user).kernel().name() != "batch_norm")
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
    auto made =
        std::make_unique<Node>(KernelCall(kFused, operands, attributes));
    for (const size_t n : chain.nodes) region_.nodes[n].reset();
    region_.nodes[last] = std::move(made);
  }

  Region& region_;
  std::unordered_map<const Storage*, std::vector<size_t>> users_;
};

}  // namespace

void fuse_conv(Region& region) {
  Fuser(region).run();
}

}  // namespace hotaru::graph
