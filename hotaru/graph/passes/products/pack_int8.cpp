#include "hotaru/graph/passes/products/pack_int8.h"

#include <vector>

#include "hotaru/backend/common/conv/int8.h"
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/core/tensor.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

// Rows up to which products read their weight where it lies: pairs are twice
// as long, and quads save nothing where columns are contiguous.
constexpr int64_t kFewRows = 4;

bool reads_in_place(const Int8MatmulAttributes& g) {
  return g.m <= kFewRows && (g.b.row == 1 || !simd_has_int8_products());
}

class Int8Packer {
 public:
  explicit Int8Packer(Region& region) : region_(region) {}

  void run() {
    for (auto& node : region_.nodes) {
      if (is(node->call(), known::kInt8Matmul)) pack_product(node);
      if (is(node->call(), known::kInt8Conv)) pack_convolution(node);
    }
  }

 private:
  bool lasts(const Tensor& t) const { return !t.defined() || region_.lasts(t); }

  void pack_product(std::unique_ptr<Node>& node) {
    const KernelCall& call = node->call();
    auto g = call.attributes<Int8MatmulAttributes>();
    const Tensor &b = call.tensor(2), &zero = call.tensor(4);
    if (g.packed || g.batch != 1 || reads_in_place(g) || !lasts(b) ||
        !lasts(zero))
      return;
    const Tensor to = allocate(Dims{packed_size(int8_packed_rows(g.k), g.n, 4)},
                               DType::kInt32, b.device());
    const Operand operands[] = {write(to), read(b), read(zero)};
    region_.once.push_back(std::make_unique<Node>(
        KernelCall(known::kPackInt8, operands,
                   PackInt8Attributes{g.k, g.n, g.b, g.b_zero.step})));
    g.packed = true;
    replace(node, to, g);
  }

  void pack_convolution(std::unique_ptr<Node>& node) {
    const KernelCall& call = node->call();
    auto a = call.attributes<Int8ConvAttributes>();
    const Tensor &w = call.tensor(2), &zero = call.tensor(4);
    if (a.packed || !lasts(w) || !lasts(zero)) return;
    const int64_t words = int8_conv_words(a.channels, a.kernel);
    const Tensor to =
        allocate(Dims{w.size(0) * words}, DType::kInt32, w.device());
    const Operand operands[] = {write(to), read(w), read(zero)};
    region_.once.push_back(std::make_unique<Node>(
        KernelCall(known::kPackInt8Conv, operands,
                   PackInt8ConvAttributes{a.kernel, a.channels})));
    a.packed = true;
    replace(node, to, a);
  }

  /// The call with a packed weight, which has no zero points.
  template <class A>
  static void replace(std::unique_ptr<Node>& node, const Tensor& packed,
                      const A& attributes) {
    const KernelCall& call = node->call();
    const Tensor none;
    std::vector<Operand> operands(call.operands().begin(),
                                  call.operands().end());
    operands[2] = read(packed);
    operands[4] = read(none);
    node =
        std::make_unique<Node>(KernelCall(call.kernel(), operands, attributes));
  }

  Region& region_;
};

}  // namespace

void pack_int8(Region& region) {
  Int8Packer(region).run();
}

}  // namespace hotaru::graph
