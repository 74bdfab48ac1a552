#include "hotaru/graph/passes/products/pack_recurrent.h"

#include <algorithm>
#include <vector>

#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/common/rnn/rnn.h"
#include "hotaru/core/tensor.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

// Fewer columns leave lanes of a panel idle.
constexpr int64_t kColumns = 32;

class RecurrentPacker {
 public:
  explicit RecurrentPacker(Region& region) : region_(region) {}

  void run() {
    for (auto& node : region_.nodes)
      if (is(node->call(), known::kRnnLayer)) pack(node);
  }

 private:
  struct Packed {
    const Storage* storage;
    int64_t offset;
    Dims sizes;
    Tensor to;  // in the dtype that was asked for
  };

  void pack(std::unique_ptr<Node>& node) {
    const KernelCall& call = node->call();
    auto a = call.attributes<RnnAttributes>();
    if (!reads_packed(call)) return;
    std::vector<Operand> operands(call.operands().begin(),
                                  call.operands().end());
    Tensor input, hidden;
    if (!a.packed_input && pays(call.tensor(6))) {
      a.packed_input = true;
      operands[6] = read(input = packed(call.tensor(6), a));
    }
    if (!a.packed_hidden && pays(call.tensor(7))) {
      a.packed_hidden = true;
      operands[7] = read(hidden = packed(call.tensor(7), a));
    }
    if (input.defined() || hidden.defined())
      node = std::make_unique<Node>(KernelCall(call.kernel(), operands, a));
  }

  /// True if the layer is one of those whose kernel reads packed weights.
  static bool reads_packed(const KernelCall& call) {
    return call.tensor(0).numel() > 0 && call.tensor(3).size(-1) > 0 &&
           call.tensor(8).defined() == call.tensor(9).defined() &&
           !call.tensor(10).defined();
  }

  bool pays(const Tensor& weight) const {
    return weight.size(0) >= kColumns && region_.lasts(weight);
  }

  /// The transposed weight, packed once for all layers that have it; as
  /// bfloat16 where the layer may round.
  Tensor packed(const Tensor& weight, const RnnAttributes& a) {
    const bool rounds = a.bf16 && weight.dtype() == DType::kFloat32;
    const DType dtype = rounds ? DType::kBFloat16 : weight.dtype();
    const auto known =
        std::find_if(packed_.begin(), packed_.end(), [&](const Packed& p) {
          return p.storage == weight.storage().get() &&
                 p.offset == weight.storage_offset() && p.to.dtype() == dtype &&
                 std::ranges::equal(p.sizes, weight.sizes());
        });
    if (known != packed_.end()) return known->to;
    const int64_t n = weight.size(0), k = weight.size(1);
    const int64_t item = int64_t(itemsize(dtype));
    Tensor to = allocate(Dims{packed_size(k, n, item)}, dtype, weight.device());
    const Operand operands[] = {write(to), read(weight)};
    region_.once.push_back(std::make_unique<Node>(KernelCall(
        known::kPackMatrix, operands, PackMatrixAttributes{k, n, {0, 1, k}})));
    packed_.push_back({weight.storage().get(), weight.storage_offset(),
                       Dims(weight.sizes()), to});
    return to;
  }

  Region& region_;
  std::vector<Packed> packed_;
};

}  // namespace

void pack_recurrent(Region& region) {
  RecurrentPacker(region).run();
}

}  // namespace hotaru::graph
