#include "hotaru/graph/passes/products/fuse_linear.h"

#include <algorithm>
#include <array>

#include "hotaru/backend/common/matmul/linear.h"
#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/products/pack_recurrent.h"
#include "hotaru/graph/passes/uses.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

/// Tells whether a product by B in place is slower. Few columns leave lanes of
/// a panel idle; contiguous rows are as good for few rows of A, but of 16 bits,
/// for more they would be packed in each call.
bool pays(const LinearAttributes& g, DType dtype) {
  if (g.b.column == 1 && g.m < 4 && itemsize(dtype) > 2) return false;
  return g.n >= 32 || (g.m >= 4 && g.n >= 16);
}

Activation activation_of(const KernelCall& call) {
  static const std::pair<const KnownKernel&, Activation> kActivations[] = {
      {known::kRelu, Activation::kRelu},
      {known::kSigmoid, Activation::kSigmoid},
      {known::kTanh, Activation::kTanh},
      {known::kSilu, Activation::kSilu},
      {known::kGelu, Activation::kGelu},
      {known::kGeluTanh, Activation::kGeluTanh},
  };
  for (const auto& [kernel, activation] : kActivations)
    if (is(call, kernel)) return activation;
  return Activation::kNone;
}

/// Multiplications up to which other devices' own products are as good as their
/// libraries', which know few activations: a vector by a large matrix.
constexpr int64_t kMostOwn = int64_t{1} << 24;

bool suits(Activation activation, const LinearAttributes& g, Device device) {
  return device.is_cpu() || activation == Activation::kRelu ||
         activation == Activation::kGeluTanh ||
         g.batch * g.m * g.n * g.k <= kMostOwn;
}

/// Input of a product, and the node that reads it.
struct Input {
  Tensor tensor;
  size_t node = 0;

  bool defined() const { return tensor.defined(); }
};

/// A product and what it took along so far.
struct Chain {
  LinearAttributes attributes;
  Input a, b, bias, scale, residual;
  /// The nodes that it replaces, ascending, and what the last one writes.
  std::vector<size_t> nodes;
  Tensor result;

  std::array<const Input*, 5> inputs() const {
    return {&a, &b, &bias, &scale, &residual};
  }
  bool plain() const {
    return !bias.defined() && !residual.defined() && !scale.defined();
  }
};

class Fuser {
 public:
  explicit Fuser(Region& region) : region_(region), uses_(region) {}

  void fuse() {
    for (size_t n = 0; n < region_.nodes.size(); ++n) {
      Chain chain;
      if (!region_.nodes[n] || !begin(chain, n)) continue;
      const LinearAttributes& g = chain.attributes;
      take_factor(chain, chain.a, chain.attributes.a, g.m, g.k);
      take_factor(chain, chain.b, chain.attributes.b, g.k, g.n);
      while (extend(chain)) {
      }
      if (chain.nodes.size() > 1) replace(chain);
    }
    std::erase(region_.nodes, nullptr);
  }

  void pack() {
    for (size_t n = 0; n < region_.nodes.size(); ++n) {
      Chain chain;
      if ((begin(chain, n) || resume(chain, n)) && pack(chain)) replace(chain);
    }
  }

 private:
  const KernelCall& call(size_t n) const { return uses_.call(n); }

  /// With a product that took nothing along yet.
  bool begin(Chain& chain, size_t n) const {
    const KernelCall& product = call(n);
    if (!is(product, known::kMatmul)) return false;
    const auto& g = product.attributes<MatmulAttributes>();
    const Tensor &out = product.tensor(0), &bias = product.tensor(3);
    if (!is_floating_point(out.dtype()) || !whole(out) || out.numel() == 0 ||
        g.k == 0)
      return false;
    chain.attributes = {g.batch, g.m, g.n, g.k, g.a, g.b, g.alpha};
    chain.attributes.bf16 = g.bf16;
    chain.a = {alias_of(product.tensor(1)), n};
    chain.b = {alias_of(product.tensor(2)), n};
    chain.nodes = {n};
    chain.result = alias_of(out);
    if (!bias.defined() || g.beta == Scalar(0)) return true;
    if (!(g.beta == Scalar(1)) || (g.n > 1 && g.bias.column != 1)) return false;
    if ((g.batch == 1 || g.bias.batch == 0) && (g.m == 1 || g.bias.row == 0)) {
      chain.bias = {alias_of(bias), n};
      return true;
    }
    chain.residual = {alias_of(bias), n};
    chain.attributes.residual_stride = g.bias.row;
    return g.batch == 1 && (g.n > 1 || g.bias.row == 1);
  }

  /// With one that did.
  bool resume(Chain& chain, size_t n) const {
    const KernelCall& product = call(n);
    if (!is(product, known::kLinear)) return false;
    chain.attributes = product.attributes<LinearAttributes>();
    size_t i = 0;
    chain.result = alias_of(product.tensor(i++));
    for (Input* input :
         {&chain.a, &chain.b, &chain.bias, &chain.scale, &chain.residual})
      *input = {alias_of(product.tensor(i++)), n};
    chain.nodes = {n};
    return true;
  }

  /// A factor that is a tensor times one number: the number is taken along, as
  /// attention does whose queries and keys are scaled.
  void take_factor(Chain& chain, Input& factor, MatrixStrides& strides,
                   int64_t rows, int64_t columns) {
    const size_t n = chain.nodes.back();
    const auto from = uses_.other(factor.tensor, n);
    if (!from || *from > n || !is(call(*from), known::kMul)) return;
    const KernelCall& user = call(*from);
    const Tensor& out = user.tensor(0);
    const bool first = user.tensor(2).numel() == 1;
    const Tensor &x = user.tensor(first ? 1 : 2),
                 &number = user.tensor(first ? 2 : 1);
    LinearAttributes& g = chain.attributes;
    const auto as_out = [&](const Tensor& t) {
      return t.dtype() == out.dtype() && t.device() == out.device();
    };
    if (out.storage() != factor.tensor.storage() || number.numel() != 1 ||
        !same(x.sizes(), out.sizes()) || !as_out(x) || !as_out(number) ||
        !region_.lasts(number) || !suits(Activation::kNone, g, out.device()) ||
        (chain.scale.defined() && !out.device().is_cpu()))
      return;
    // The steps along x that those along its product by the number stand for.
    MatrixStrides steps = strides;
    const int64_t sizes[] = {g.batch, rows, columns};
    int64_t* const each[] = {&steps.batch, &steps.row, &steps.column};
    if (g.batch * rows * columns != out.numel()) return;
    for (size_t i = 0; i < 3; ++i) {
      if (sizes[i] == 1) continue;
      size_t d = 0;
      while (d < size_t(out.dim()) &&
             (out.sizes()[d] != sizes[i] || out.strides()[d] != *each[i]))
        ++d;
      if (d == size_t(out.dim())) return;
      *each[i] = x.strides()[d];
    }
    Chain longer = chain;
    longer.nodes.insert(longer.nodes.begin(), *from);
    Input& other = &factor == &chain.a ? longer.a : longer.b;
    other = {alias_of(x), *from};
    longer.scale = {times(chain.scale.tensor, number, user), *from};
    if (!stays(longer)) return;
    // In the order of the calls, whichever factor came first.
    std::sort(longer.nodes.begin(), longer.nodes.end());
    strides = steps;
    chain.scale = longer.scale;
    chain.nodes = std::move(longer.nodes);
    factor = other;
  }

  /// The product of two numbers that last, made once.
  Tensor times(const Tensor& a, const Tensor& b, const KernelCall& mul) {
    if (!a.defined()) return alias_of(b);
    for (const Square& known : squares_)
      if (same_place(known.a, a) && same_place(known.b, b)) return known.to;
    const Tensor to = allocate(Dims{1}, b.dtype(), b.device());
    const Tensor flat[] = {view_as_one(a), view_as_one(b)};
    const Operand operands[] = {write(to), read(flat[0]), read(flat[1])};
    region_.once.push_back(std::make_unique<Node>(KernelCall(
        mul.kernel(), operands, mul.attributes<PointwiseNumbers>())));
    squares_.push_back({alias_of(a), alias_of(b), to});
    return to;
  }

  static Tensor view_as_one(const Tensor& t) {
    return make_tensor(t.storage(), t.dtype(), Dims{1}, Dims{1},
                       t.storage_offset());
  }

  /// Takes the next node along; false if that can't be.
  bool extend(Chain& chain) {
    if (chain.attributes.out_row != 0) return false;
    const auto next = uses_.only_user(chain.result, chain.nodes.back());
    if (!next) return false;
    const KernelCall& user = call(*next);
    Chain longer = chain;
    longer.nodes.push_back(*next);
    longer.result = alias_of(user.tensor(0));
    if (!takes(longer, user, chain.result) || !stays(longer)) return false;
    chain = std::move(longer);
    return true;
  }

  /// Elements that lie like the product's.
  static bool fits(const Tensor& t, const Tensor& in) {
    return t.defined() && t.dtype() == in.dtype() && t.is_contiguous() &&
           t.numel() == in.numel();
  }

  bool takes(Chain& chain, const KernelCall& user, const Tensor& in) const {
    if (is(user, known::kCopy)) return takes_copy(chain, user, in);
    if (!fits(user.tensor(0), in) ||
        chain.attributes.activation != Activation::kNone)
      return false;
    const Activation activation = activation_of(user);
    if (activation != Activation::kNone) {
      chain.attributes.activation = activation;
      return fits(user.tensor(1), in) &&
             suits(activation, chain.attributes, in.device());
    }
    const bool scales = is(user, known::kMul);
    if (!scales && !is(user, known::kAdd)) return false;
    const bool first = user.tensor(1).storage() == in.storage();
    const Tensor &mine = user.tensor(first ? 1 : 2),
                 &other = user.tensor(first ? 2 : 1);
    if (!fits(mine, in) || other.dtype() != in.dtype() ||
        other.device() != in.device() || other.storage() == in.storage() ||
        mine.storage() != in.storage())
      return false;
    return scales ? takes_scale(chain, other) : takes_sum(chain, user, other);
  }

  /// A copy that puts the matrices or their rows into another order: the
  /// product is written there at once.
  static bool takes_copy(Chain& chain, const KernelCall& user,
                         const Tensor& in) {
    const Tensor &to = user.tensor(0), &from = user.tensor(1);
    LinearAttributes& g = chain.attributes;
    if (from.storage() != in.storage() || from.storage_offset() != 0 ||
        from.dtype() != in.dtype() || to.dtype() != in.dtype() || !whole(to) ||
        !same(to.sizes(), from.sizes()) || from.numel() != in.numel())
      return false;
    // Which of a column, row and matrix each dimension steps along.
    const int64_t sizes[] = {g.n, g.m, g.batch},
                  strides[] = {1, g.n, g.m * g.n};
    int64_t steps[] = {1, g.n, g.m * g.n};
    for (size_t d = 0; d < size_t(to.dim()); ++d) {
      if (to.sizes()[d] == 1) continue;
      size_t which = 0;
      while (which < 3 && (strides[which] != from.strides()[d] ||
                           sizes[which] != from.sizes()[d]))
        ++which;
      if (which == 3) return false;
      steps[which] = to.strides()[d];
    }
    if (g.n == 1 || g.m == 1 || steps[0] != 1) return false;
    g.out_row = steps[1];
    g.out_batch = steps[2];
    return true;
  }

  static bool takes_scale(Chain& chain, const Tensor& other) {
    if (!chain.plain() || other.numel() != 1 ||
        !suits(Activation::kNone, chain.attributes, other.device()))
      return false;
    chain.scale = {alias_of(other), chain.nodes.back()};
    return true;
  }

  static bool takes_sum(Chain& chain, const KernelCall& user,
                        const Tensor& other) {
    if (!(user.attributes<PointwiseNumbers>().a == Scalar(1.0)) ||
        chain.residual.defined())
      return false;
    LinearAttributes& g = chain.attributes;
    if (!chain.bias.defined() && other.numel() == g.n &&
        other.is_contiguous() && other.dim() > 0 && other.size(-1) == g.n) {
      chain.bias = {alias_of(other), chain.nodes.back()};
      return true;
    }
    if (!fits(other, user.tensor(0)) || g.batch != 1) return false;
    chain.residual = {alias_of(other), chain.nodes.back()};
    g.residual_stride = g.n;
    return true;
  }

  /// Tells whether the chain can run where its last node stands: nobody changes
  /// what it reads until then, nor does it write what it reads.
  bool stays(const Chain& chain) const {
    const Touch result = touch_of(write(chain.result));
    for (const Input* input : chain.inputs()) {
      if (!input->defined()) continue;
      if (!uses_.unchanged(input->tensor, input->node, chain.nodes.back()))
        return false;
      const bool in_place =
          input == &chain.residual && chain.attributes.out_row == 0 &&
          same_place(input->tensor, chain.result) &&
          chain.attributes.residual_stride == chain.attributes.n;
      if (!in_place && result.overlaps(touch_of(read(input->tensor))))
        return false;
    }
    return true;
  }

  /// True if two row-major tensors of as many elements are the same memory.
  static bool same_place(const Tensor& a, const Tensor& b) {
    return a.storage() == b.storage() &&
           a.storage_offset() == b.storage_offset();
  }

  /// Brings a weight into the order in which it is read, once for all replays.
  bool pack(Chain& chain) {
    LinearAttributes& g = chain.attributes;
    const Tensor& b = chain.b.tensor;
    const bool rounds = g.bf16 && b.dtype() == DType::kFloat32;
    const DType dtype = rounds ? DType::kBFloat16 : b.dtype();
    if (g.batch != 1 || g.packed || !pays(g, dtype) || !region_.lasts(b))
      return false;
    const PackMatrixAttributes attributes{g.k, g.n, g.b};
    const auto known =
        std::find_if(packed_.begin(), packed_.end(), [&](const Packed& p) {
          return same_place(p.source, b) && p.to.dtype() == dtype &&
                 p.attributes.k == g.k && p.attributes.n == g.n &&
                 p.attributes.b.row == g.b.row &&
                 p.attributes.b.column == g.b.column;
        });
    g.packed = true;
    if (known != packed_.end()) {
      chain.b.tensor = known->to;
      return true;
    }
    const int64_t item = int64_t(itemsize(dtype));
    const Tensor to =
        allocate(Dims{packed_size(g.k, g.n, item)}, dtype, b.device());
    const Operand operands[] = {write(to), read(b)};
    region_.once.push_back(std::make_unique<Node>(
        KernelCall(known::kPackMatrix, operands, attributes)));
    packed_.push_back({b, to, attributes});
    chain.b.tensor = to;
    return true;
  }

  void replace(const Chain& chain) {
    const Operand operands[] = {
        write(chain.result),      read(chain.a.tensor),
        read(chain.b.tensor),     read(chain.bias.tensor),
        read(chain.scale.tensor), read(chain.residual.tensor)};
    const size_t last = chain.nodes.back();
    auto made = std::make_unique<Node>(
        KernelCall(known::kLinear, operands, chain.attributes));
    for (const size_t n : chain.nodes) region_.nodes[n].reset();
    region_.nodes[last] = std::move(made);
    uses_.replaced(last);
  }

  struct Square {
    Tensor a, b, to;
  };
  struct Packed {
    Tensor source, to;
    PackMatrixAttributes attributes;
  };

  Region& region_;
  Uses uses_;
  std::vector<Packed> packed_;
  std::vector<Square> squares_;
};

}  // namespace

void fuse_linear(Region& region) {
  Fuser(region).fuse();
}

void pack_weights(Region& region) {
  Fuser(region).pack();
  pack_recurrent(region);
}

}  // namespace hotaru::graph
