// Launching matrix products; see params/matmul.h.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/create/move.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/libraries/cublaslt.h"
#include "hotaru/backend/cuda/matmul/multiply.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<NumberTypes> kMatmulTypes{0, "addmm_cuda"};
constexpr KernelTypes<FloatingTypes> kLinearTypes{0};

const void* address_of(const Tensor& t) {
  return t.defined() && t.numel() > 0 ? device_address(t) : nullptr;
}

uint32_t size_of(int64_t n) {
  HOTARU_CHECK(n < kMostElements,
               "matrices with 2^31 rows or columns and more are not "
               "implemented for CUDA yet");
  return uint32_t(n);
}

/// Sizes and operands that products of all kinds have.
template <class Attributes>
MatmulParams params_of(const KernelCall& call, const Attributes& g) {
  MatmulParams p;
  p.out = device_address(call.tensor(0));
  p.a = address_of(call.tensor(1));
  p.b = address_of(call.tensor(2));
  p.bias = address_of(call.tensor(3));
  p.batch = g.batch;
  p.m = size_of(g.m);
  p.n = size_of(g.n);
  p.k = size_of(g.k);
  p.a_at = g.a;
  p.b_at = g.b;
  p.out_row = g.n;
  p.out_batch = g.m * g.n;
  return p;
}

/// As many outputs as a kernel counts at a time.
void check_count(int64_t blocks, const MatmulParams& p) {
  HOTARU_CHECK(matmul_outputs(p) < kMostElements && blocks < kMostElements,
               "matrix products of 2^31 elements and more are not implemented "
               "for CUDA yet");
}

/// Copies matrices to where the strides of `to` say.
void move_matrices(void* target, const MatrixStrides& to, const void* source,
                   const MatrixStrides& from, const Dims& shape, int64_t item) {
  Geometry<2>::Steps steps{};
  steps[0] = {to.batch * item, from.batch * item};
  steps[1] = {to.row * item, from.row * item};
  steps[2] = {to.column * item, from.column * item};
  move_elements(
      Geometry<2>::over({static_cast<char*>(target),
                         static_cast<char*>(const_cast<void*>(source))},
                        shape, steps),
      size_t(item));
}

/// An operand that cuBLASLt can read: where its elements lie neither by rows
/// nor by columns (gradients that were expanded) a copy, so that what is equal
/// is multiplied by the same kernel, however it lies.
class Readable {
 public:
  Readable(const void* operand, const MatrixStrides& at, int64_t batch,
           int64_t rows, int64_t columns, int64_t item)
      : copy_(cublaslt_reads(rows, columns, at)
                  ? 0
                  : size_t(batch * rows * columns * item)),
        address_(operand),
        at_(at) {
    if (cublaslt_reads(rows, columns, at)) return;
    at_ = {rows * columns, columns, 1};
    address_ = copy_.data();
    move_matrices(copy_.data(), at_, operand, at, Dims{batch, rows, columns},
                  item);
  }
  const void* address() const { return address_; }
  const MatrixStrides& strides() const { return at_; }

 private:
  const Workspace copy_;
  const void* address_;
  MatrixStrides at_;
};

/// The product by cuBLASLt; sums alone, and the rest by our own kernel, where
/// it has no epilogue for it. False, and nothing was done, if it is not here.
bool multiply_by_library(MatmulParams p, DType dtype, const Functions& end) {
  if (!has_cublaslt() || p.k == 0) return false;
  const auto item = int64_t(itemsize(dtype));
  const Readable a(p.a, p.a_at, p.batch, p.m, p.k, item),
      b(p.b, p.b_at, p.batch, p.k, p.n, item);
  p.a = a.address(), p.a_at = a.strides();
  p.b = b.address(), p.b_at = b.strides();
  if (multiply_by_cublaslt(p, dtype, dtype)) return true;
  const DType wide = item == 2 ? DType::kFloat32 : dtype;
  const Workspace sums(size_t(matmul_outputs(p)) * itemsize(wide));
  MatmulParams product = p;
  product.out = sums.data();
  product.out_row = p.n;
  product.out_batch = int64_t{p.m} * p.n;
  product.bias = product.scale = product.residual = nullptr;
  product.alpha = 1;
  product.activation = Activation::kNone;
  if (!multiply_by_cublaslt(product, dtype, wide)) return false;
  p.workspace = sums.data();
  p.splits = 1;
  p.columns = Divider(p.n);
  p.rows = Divider(p.m);
  check_count(1, p);
  launch(end.of(dtype), {unsigned(matmul_end_blocks(p))}, kBlock, p);
  return true;
}

}  // namespace

void multiply(MatmulParams& p, DType dtype) {
  static constinit const Functions end("GemmEnd");
  if (multiply_by_library(p, dtype, end)) return;
  const auto item = int64_t(itemsize(dtype));
  plan_matmul(p, item, properties(launching_timeline().device()).processors,
              item == 2 && reads_chunks(p));
  check_count(matmul_tiles(p), p);
  static constinit const Functions large("GemmLarge"), small("GemmSmall"),
      tensor[2][2] = {
          {Functions("GemmTensor", "_nn"), Functions("GemmTensor", "_nt")},
          {Functions("GemmTensor", "_tn"), Functions("GemmTensor", "_tt")}};
  const bool a_across = p.a_at.column != 1, b_along = p.b_at.row == 1;
  launch_product(p, dtype,
                 p.tensor  ? tensor[a_across][b_along]
                 : p.large ? large
                           : small,
                 end);
}

namespace {

void matmul(const KernelCall& call) {
  check_types<kMatmulTypes>(call);
  const Tensor& out = call.tensor(0);
  const auto& g = call.attributes<MatmulAttributes>();
  if (out.numel() == 0) return;
  MatmulParams p = params_of(call, g);
  if (g.beta == Scalar(0)) p.bias = nullptr;
  p.bias_at = g.bias;
  if (is_floating_point(out.dtype())) {
    p.alpha = g.alpha.to<double>();
    p.beta = g.beta.to<double>();
    return multiply(p, out.dtype());
  }
  check_count(1, p);
  if (is_complex(out.dtype())) {
    const auto alpha = g.alpha.to_complex(), beta = g.beta.to_complex();
    p.alpha = alpha.real(), p.imaginary_alpha = alpha.imag();
    p.beta = beta.real(), p.imaginary_beta = beta.imag();
    if (multiply_by_cublaslt(p, out.dtype(), out.dtype())) return;
  } else {
    p.integer_alpha = g.alpha.to<int64_t>();
    p.integer_beta = g.beta.to<int64_t>();
  }
  p.columns = Divider(p.n);
  p.rows = Divider(p.m);
  static constinit const Functions plain("PlainMatmul");
  launch(plain.of(out.dtype()), {unsigned(matmul_end_blocks(p))}, kBlock, p);
}

void linear(const KernelCall& call) {
  check_types<kLinearTypes>(call);
  const auto& g = call.attributes<LinearAttributes>();
  if (g.batch * g.m * g.n == 0) return;
  MatmulParams p = params_of(call, g);
  if (g.packed) p.b_at = {0, g.n, 1};
  if (g.out_row) {
    p.out_row = g.out_row;
    p.out_batch = g.out_batch;
  }
  p.bias_at = {0, 0, 1};
  p.beta = 1;
  p.scale = address_of(call.tensor(4));
  p.residual = address_of(call.tensor(5));
  p.residual_row = g.residual_stride;
  p.alpha = g.alpha.to<double>();
  p.activation = g.activation;
  multiply(p, call.tensor(0).dtype());
}

/// Products on CUDA read the matrix row by row.
void pack(const KernelCall& call) {
  check_types<kLinearTypes>(call);
  const auto& g = call.attributes<PackMatrixAttributes>();
  const auto item = int64_t(itemsize(call.tensor(0).dtype()));
  if (g.k * g.n == 0) return;
  move_matrices(device_address(call.tensor(0)), {0, g.n, 1},
                device_address(call.tensor(1)), {0, g.b.row, g.b.column},
                Dims{1, g.k, g.n}, item);
}

HOTARU_KERNEL(kCUDA, "matmul", matmul);
HOTARU_KERNEL(kCUDA, "linear", linear);
HOTARU_KERNEL(kCUDA, "pack_matrix", pack);

}  // namespace
}  // namespace hotaru::cuda
