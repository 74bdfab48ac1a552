// matmul for any number of dimensions, and what is made of it.
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

// Leading dimensions without the last `n`.
IntSpan leading(const Tensor& t, size_t n) {
  return t.sizes().first(t.sizes().size() - n);
}

int64_t product(IntSpan sizes) {
  return numel_of(sizes);
}

// A fresh product under another shape. Unlike view, no view of it: nobody else
// holds the product.
Tensor unsafe_view(const Tensor& product, IntSpan size) {
  const Tensor out = make_tensor(product.storage(), product.dtype(), size,
                                 contiguous_strides(size), 0);
  if (autograd::needs_grad(product))
    autograd::record("UnsafeViewBackward0", out, {product}, {},
                     [shape = Dims(product.sizes())](
                         autograd::Backward&, const Tensor& g) -> Tensors {
                       return {reshape(g, shape)};
                     });
  return out;
}

// [..., m, k] @ [k] or [k, n]: one product over all leading rows.
Tensor fold(const Tensor& self, const Tensor& other) {
  Dims size(leading(self, 1));
  const Tensor rows = reshape(self, Dims{product(size), self.size(-1)});
  if (other.dim() == 1) return unsafe_view(mv(rows, other), size);
  size.push_back(other.size(1));
  return unsafe_view(mm(rows, other), size);
}

Tensor broadcast_batches(const Tensor& self, const Tensor& other) {
  const Dims batch = broadcast_shapes(leading(self, 2), leading(other, 2));
  const int64_t count = product(batch);
  const auto batches = [&](const Tensor& t) {
    Dims full(batch);
    full.push_back(t.size(-2));
    full.push_back(t.size(-1));
    const Tensor expanded = same(full, t.sizes()) ? t : expand(t, full);
    return reshape(expanded, Dims{count, t.size(-2), t.size(-1)});
  };
  const Tensor out = bmm(batches(self), batches(other));
  Dims size(batch);
  size.push_back(self.size(-2));
  size.push_back(other.size(-1));
  return unsafe_view(out, size);
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  HOTARU_CHECK(a > 0 && b > 0,
               "both arguments to matmul need to be at least 1D, but they are ",
               a, "D and ", b, "D");
  if (a == 1 && b == 1) return dot(self, other);
  if (a == 2 && b == 1) return mv(self, other);
  if (a == 1 && b == 2) return squeeze(mm(unsqueeze(self, 0), other), 0);
  if (a == 2 && b == 2) return mm(self, other);
  if (b <= 2) return fold(self, other);
  if (a == 1) return squeeze(broadcast_batches(unsqueeze(self, 0), other), -2);
  return broadcast_batches(self, other);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2,
                const Tensor& weight, const Tensor& bias) {
  HOTARU_CHECK(weight.dim() == 3,
               "bilinear(): weight must be 3-dimensional, got ", weight.dim());
  HOTARU_CHECK(input1.dim() > 0 && input2.dim() > 0,
               "bilinear(): inputs must have at least 1 dimension, got ",
               input1.dim(), " and ", input2.dim());
  HOTARU_CHECK(same(leading(input1, 1), leading(input2, 1)),
               "bilinear(): input batch dimensions do not match: got ",
               shape_text(input1.sizes()), " and ", shape_text(input2.sizes()));
  const int64_t o = weight.size(0), i = weight.size(1), j = weight.size(2);
  HOTARU_CHECK(input1.size(-1) == i,
               "bilinear(): input1 size does not match weight size: got ",
               input1.size(-1), " but expected ", i);
  HOTARU_CHECK(input2.size(-1) == j,
               "bilinear(): input2 size does not match weight size: got ",
               input2.size(-1), " but expected ", j);
  HOTARU_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == o),
               "bilinear(): bias size does not match weight size: got ",
               bias.defined() ? bias.numel() : 0, " but expected ", o);
  Dims size(leading(input1, 1));
  const Tensor x = reshape(input1, Dims{product(size), i});
  const Tensor y = reshape(input2, Dims{product(size), j, 1});
  const Tensor w = reshape(permute(weight, Dims{1, 0, 2}), Dims{i, o * j});
  const auto taken = &autocast::lowered;
  const Tensor left = view(mm(taken(x), taken(w)), Dims{x.size(0), o, j});
  size.push_back(o);
  Tensor out = reshape(bmm(left, taken(y)), size);
  if (autocast::active()) out = to(out, input1.dtype());
  return bias.defined() ? add(out, bias) : out;
}

namespace {

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  HOTARU_CHECK(self.size(-1) == other.size(-1),
               "inner() the last dimension must match on both input tensors "
               "but got shapes ",
               shape_text(self.sizes()), " and ", shape_text(other.sizes()));
  if (autocast::active())
    return autocast::by_name(
        "tensordot", "",
        {self, other, Value::int_list(Dims{-1}), Value::int_list(Dims{-1})});
  return tensordot(self, other, Dims{-1}, Dims{-1});
}

/// beta * self + alpha * the sum of the products of a batch.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta, const Scalar& alpha) {
  HOTARU_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  HOTARU_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  HOTARU_CHECK(batch1.size(0) == batch2.size(0),
               "batch1 and batch2 must have same number of batches, got ",
               batch1.size(0), " and ", batch2.size(0));
  HOTARU_CHECK(batch1.size(2) == batch2.size(1),
               "Incompatible matrix sizes for bmm (", batch1.size(1), "x",
               batch1.size(2), " and ", batch2.size(1), "x", batch2.size(2),
               ")");
  const int64_t inner = batch1.size(0) * batch1.size(2);
  const Tensor a =
      reshape(transpose(batch1, 0, 1), Dims{batch1.size(1), inner});
  const Tensor b = reshape(batch2, Dims{inner, batch2.size(2)});
  return addmm(self, a, b, beta, alpha);
}

/// beta * self + alpha * outer(vec1, vec2).
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2,
            const Scalar& beta, const Scalar& alpha) {
  HOTARU_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ",
               vec1.dim(), "-D");
  HOTARU_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ",
               vec2.dim(), "-D");
  expand(self, Dims{vec1.size(0), vec2.size(0)});
  const DType dtype = result_type({self, vec1, vec2});
  check_factor("beta", dtype, beta);
  check_factor("alpha", dtype, alpha);
  const Tensor product = outer(vec1, vec2);
  if (dtype == DType::kBool) {
    const auto kept = [](const Tensor& t, const Scalar& factor) {
      return factor == Scalar(0) ? zeros_like(t) : t;
    };
    return logical_or(kept(self, beta), kept(product, alpha));
  }
  const Tensor scaled =
      to(alpha == Scalar(1) ? product : mul(product, alpha), dtype);
  if (beta == Scalar(0)) return scaled;
  return add(beta == Scalar(1) ? self : mul(self, beta), scaled);
}

/// kron(), where the last dimensions may be multiplied already.
Tensor kron_of(const Tensor& self, const Tensor& other, bool same_last) {
  const int64_t dims = std::max(self.dim(), other.dim());
  Dims left, right, size;
  for (int64_t d = 0; d < dims - same_last; ++d) {
    const auto extent = [&](const Tensor& t) {
      const int64_t at = d - (dims - t.dim());
      return at < 0 ? 1 : t.size(at);
    };
    left.push_back(extent(self));
    left.push_back(1);
    right.push_back(1);
    right.push_back(extent(other));
    size.push_back(extent(self) * extent(other));
  }
  if (same_last)
    for (Dims* sizes : {&left, &right, &size}) sizes->push_back(self.size(-1));
  return without_base(
      reshape(mul(reshape(self, left), reshape(other, right)), size));
}

/// t with a last dimension n times as long: every element n times (inner), or
/// all of them n times.
Tensor spread(const Tensor& t, int64_t n, bool inner) {
  const Tensor apart = unsqueeze(t, inner ? -1 : -2);
  Dims size(apart.sizes());
  size[size.size() - (inner ? 1 : 2)] = n;
  Dims out(t.sizes());
  out.back() *= n;
  return reshape(expand(apart, size), out);
}

/// Tells whether kron() first makes its rows' factors, as the rows of other are
/// too short for loops over them, and many rows use each factor.
bool has_short_rows(const Tensor& self, const Tensor& other) {
  constexpr int64_t kShort = 128, kUses = 4;
  if (self.dim() == 0 || other.dim() == 0) return false;
  const int64_t n = self.size(-1), m = other.size(-1);
  return n > 1 && m < kShort && self.numel() >= kUses * n &&
         other.numel() >= kUses * m;
}

/// Every element of self times the whole of other, in place of the element.
Tensor kron(const Tensor& self, const Tensor& other) {
  if (has_short_rows(self, other)) {
    // The rest multiplies the last dimension element by element.
    const Tensor a = spread(self, other.size(-1), true);
    const Tensor b = spread(other, self.size(-1), false);
    return kron_of(a, b, true);
  }
  return kron_of(self, other, false);
}

}  // namespace

HOTARU_WITH_IN_PLACE(
    "addbmm", "(Tensor",
    " self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1)",
    addbmm);
HOTARU_WITH_IN_PLACE(
    "addr", "(Tensor",
    " self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1)", addr);
HOTARU_OP("kron(Tensor self, Tensor other) -> Tensor", kron);
HOTARU_OP("matmul(Tensor self, Tensor other) -> Tensor", matmul);
HOTARU_OP("inner(Tensor self, Tensor other) -> Tensor", inner);
HOTARU_OP(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, "
    "Tensor? bias=None) -> Tensor",
    bilinear);

}  // namespace hotaru
