#include "hotaru/ops/matmul/quantized.h"

#include "hotaru/backend/common/matmul/int8.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr const char* kMatmul = "quantized matmul: ";

bool is_byte(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8;
}

Dims leading(const Tensor& t) {
  return Dims(t.sizes().first(t.sizes().size() - 2));
}

/// [..., r, c] -> [count, r, c], or [1, r, c] where it is the same for all.
Tensor batches(const Tensor& t, const Dims& batch, int64_t count) {
  const int64_t rows = t.size(-2), columns = t.size(-1);
  const Dims own = leading(t);
  if (numel_of(own) == 1) return reshape(t, Dims{1, rows, columns});
  Dims full(batch);
  full.push_back(rows);
  full.push_back(columns);
  const Tensor expanded = same(full, t.sizes()) ? t : expand(t, full);
  return reshape(expanded, Dims{count, rows, columns});
}

/// Numbers of rows (or columns): one, or [count or 1, n].
struct Numbers {
  Tensor tensor;
  NumberStrides strides;

  bool single() const { return !tensor.defined() || strides.step == 0; }
};

Numbers numbers(const char* name, const Tensor& t, const Dims& batch,
                int64_t count, int64_t n, bool rows) {
  if (!t.defined()) return {};
  if (t.numel() == 1) return {t, {}};
  const int64_t at = rows ? -2 : -1, other = rows ? -1 : -2;
  const bool vector = t.dim() == 1 && t.size(0) == n;
  const bool matrix = t.dim() > 1 && t.size(at) == n && t.size(other) == 1 &&
                      int64_t(leading(t).size()) <= int64_t(batch.size());
  HOTARU_CHECK(vector || matrix, kMatmul, name, " of shape ",
               shape_text(t.sizes()), " should be one number or one for each ",
               rows ? "row" : "column", " of ", n);
  if (vector) return {t, {0, t.stride(0)}};
  const Tensor full = batches(t, batch, count);
  return {full, {full.size(0) == 1 ? 0 : full.stride(0), full.stride(at)}};
}

MatrixStrides strides_of(const Tensor& t) {
  return {t.size(0) == 1 ? 0 : t.stride(0), t.stride(1), t.stride(2)};
}

/// Both factors as batches of matrices.
struct Factors {
  Tensor a, b;
  Numbers a_zero, b_zero, a_scale, b_scale;
};

/// As numbers are broadcast with a (or b).
Tensor spread(const Numbers& v, bool rows) {
  const Tensor& t = v.tensor;
  if (v.single()) return reshape(t, Dims{1});
  const Tensor matrices =
      t.dim() == 1 ? reshape(t, Dims{1, t.size(0)})
                   : reshape(t, Dims{t.size(0), t.numel() / t.size(0)});
  return unsqueeze(matrices, rows ? 2 : 1);
}

/// The same of what other devices have.
Tensor composed(const Factors& f, const Requantization& by) {
  const auto centred = [](const Tensor& t, const Numbers& zero, bool rows) {
    const Tensor wide = to(t, DType::kInt32);
    if (!zero.tensor.defined()) return wide;
    return sub(wide, to(spread(zero, rows), DType::kInt32));
  };
  const Tensor sums =
      matmul(centred(f.a, f.a_zero, true), centred(f.b, f.b_zero, false));
  if (!by.defined()) return sums;
  const Tensor scale =
      div(mul(spread(f.a_scale, true), spread(f.b_scale, false)),
          reshape(by.y_scale, Dims{}));
  return requantize(sums, scale, by.y_zero);
}

Tensor multiply(const Factors& f, const Requantization& by) {
  static const Kernel& run = kernel("int8_matmul");
  const int64_t count = std::max(f.a.size(0), f.b.size(0));
  const Int8MatmulAttributes g{.batch = f.a.size(0) == 0 ? 0 : count,
                               .m = f.a.size(1),
                               .n = f.b.size(2),
                               .k = f.a.size(2),
                               .a = strides_of(f.a),
                               .b = strides_of(f.b),
                               .a_zero = f.a_zero.strides,
                               .b_zero = f.b_zero.strides,
                               .a_scale = f.a_scale.strides,
                               .b_scale = f.b_scale.strides};
  const Device device = f.a.device();
  if (device.is_cuda() && !run.has(device.type)) return composed(f, by);
  const Tensor out =
      allocate_result(Dims{g.batch, g.m, g.n}, by.dtype(), device);
  if (out.numel() == 0) return out;
  enqueue(
      run,
      {write(out), read(f.a), read(f.b), read(f.a_zero.tensor),
       read(f.b_zero.tensor), read(f.a_scale.tensor), read(f.b_scale.tensor),
       read(by.y_scale), read(by.y_zero), read(by.bias)},
      g);
  return out;
}

Tensor matmul_integer(const Tensor& a, const Tensor& b, const Tensor& a_zero,
                      const Tensor& b_zero) {
  return quantized_matmul(a, b, a_zero, b_zero);
}

Tensor qlinear_matmul(const Tensor& a, const Tensor& a_scale,
                      const Tensor& a_zero, const Tensor& b,
                      const Tensor& b_scale, const Tensor& b_zero,
                      const Tensor& y_scale, const Tensor& y_zero) {
  return quantized_matmul(a, b, a_zero, b_zero,
                          {a_scale, b_scale, y_scale, y_zero});
}

}  // namespace

void check_quantized(const char* op, const char* name, const Tensor& t,
                     const Tensor& zero) {
  HOTARU_CHECK(is_byte(t.dtype()), op, name, " should be uint8 or int8, got ",
               scalar_type_name(t.dtype()));
  HOTARU_CHECK(!zero.defined() || zero.dtype() == t.dtype(), op,
               "the zero point of ", name, " should be ",
               scalar_type_name(t.dtype()), " as ", name, ", got ",
               scalar_type_name(zero.defined() ? zero.dtype() : t.dtype()));
}

void check_requantization(const char* op, const Requantization& by) {
  for (const Tensor* scale : {&by.a_scale, &by.b_scale, &by.y_scale})
    HOTARU_CHECK(scale->dtype() == DType::kFloat32, op,
                 "scales should be Float, got ",
                 scalar_type_name(scale->dtype()));
  HOTARU_CHECK(is_byte(by.y_zero.dtype()), op,
               "the result's zero point should be uint8 or int8, got ",
               scalar_type_name(by.y_zero.dtype()));
  HOTARU_CHECK(by.y_scale.numel() == 1 && by.y_zero.numel() == 1, op,
               "the result should have one scale and one zero point, got ",
               by.y_scale.numel(), " and ", by.y_zero.numel());
}

Tensor requantize(const Tensor& sums, const Tensor& scale,
                  const Tensor& y_zero) {
  const bool is_signed = y_zero.dtype() == DType::kInt8;
  const Tensor rounded = round(mul(to(sums, DType::kFloat32), scale));
  const Tensor moved =
      add(rounded, to(reshape(y_zero, Dims{}), DType::kFloat32));
  return to(clamp(moved, Scalar(is_signed ? -128.0 : 0.0),
                  Scalar(is_signed ? 127.0 : 255.0)),
            y_zero.dtype());
}

Tensor quantized_matmul(const Tensor& a, const Tensor& b, const Tensor& a_zero,
                        const Tensor& b_zero, const Requantization& by) {
  check_quantized(kMatmul, "a", a, a_zero);
  check_quantized(kMatmul, "b", b, b_zero);
  if (by.defined()) check_requantization(kMatmul, by);
  HOTARU_CHECK(a.dim() > 0 && b.dim() > 0, kMatmul,
               "both factors need at least one dimension, got ", a.dim(),
               " and ", b.dim());
  const Tensor left = a.dim() == 1 ? unsqueeze(a, 0) : a;
  const Tensor right = b.dim() == 1 ? unsqueeze(b, 1) : b;
  HOTARU_CHECK(left.size(-1) == right.size(-2), kMatmul, "factors of shapes ",
               shape_text(a.sizes()), " and ", shape_text(b.sizes()),
               " cannot be multiplied");
  const int64_t m = left.size(-2), n = right.size(-1), k = left.size(-1);
  const Dims batch = broadcast_shapes(leading(left), leading(right));
  const int64_t count = numel_of(batch);
  Factors f;
  const auto read_numbers = [&](const char* name, const Tensor& t, bool rows) {
    return numbers(name, t, batch, count, rows ? m : n, rows);
  };
  f.a_zero = read_numbers("a's zero point", a_zero, true);
  f.b_zero = read_numbers("b's zero point", b_zero, false);
  f.a_scale = read_numbers("a's scale", by.a_scale, true);
  f.b_scale = read_numbers("b's scale", by.b_scale, false);
  // All rows of a batch are those of one matrix, if they are treated alike.
  const bool folds = right.dim() == 2 && left.dim() > 2 && f.a_zero.single() &&
                     f.a_scale.single() && f.b_zero.strides.batch == 0 &&
                     f.b_scale.strides.batch == 0;
  f.a = folds ? reshape(left, Dims{1, count * m, k})
              : batches(left, batch, count);
  f.b = batches(right, batch, count);
  const Tensor product = multiply(f, by);
  Dims size(batch);
  if (a.dim() > 1) size.push_back(m);
  if (b.dim() > 1) size.push_back(n);
  return make_tensor(product.storage(), product.dtype(), size,
                     contiguous_strides(size), product.storage_offset());
}

HOTARU_OP(
    "hotaru::matmul_integer(Tensor a, Tensor b, Tensor? a_zero=None, Tensor? "
    "b_zero=None) -> Tensor",
    matmul_integer);
HOTARU_OP(
    "hotaru::qlinear_matmul(Tensor a, Tensor a_scale, Tensor? a_zero, Tensor "
    "b, Tensor b_scale, Tensor? b_zero, Tensor y_scale, Tensor y_zero) -> "
    "Tensor",
    qlinear_matmul);

}  // namespace hotaru
