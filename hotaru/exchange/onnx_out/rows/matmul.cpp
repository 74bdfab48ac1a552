// Products of matrices.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

double factor(const Lowering& l, const char* name) {
  return l.has(name) ? l.scalar(name).to_double() : 1;
}

std::string times(const Lowering& l, const std::string& x, double by) {
  return by == 1 ? x : l.op("Mul", {x, like(l, by, l.out().dtype())});
}

void linear(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const std::string weight = l.tensor("weight", of);
  const bool bias = l.given("bias");
  if (l.rank() == 2 && l.example("weight").dim() == 2 &&
      is_floating_point(of)) {
    Names inputs = {x, weight};
    if (bias) inputs.push_back(l.tensor("bias", of));
    return l.result(l.op("Gemm", inputs, {attr("transB", 1)}));
  }
  const bool matrix = l.example("weight").dim() == 2;
  std::string y =
      l.op("MatMul", {x, matrix ? l.transpose(weight, {1, 0}) : weight});
  if (bias) y = l.op("Add", {y, l.tensor("bias", of)});
  l.result(y);
}

void matmul(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("MatMul", {l.tensor(0, of), l.tensor(1, of)}));
}

// beta self + alpha (a b).
void added(Lowering& l, const char* a, const char* b) {
  const DType of = l.out().dtype();
  const std::string product =
      times(l, l.op("MatMul", {l.tensor(a, of), l.tensor(b, of)}),
            factor(l, "alpha"));
  const double beta = factor(l, "beta");
  if (beta == 0) return l.result(product);
  l.result(l.op("Add", {times(l, l.tensor(0, of), beta), product}));
}

void addmm(Lowering& l) {
  const DType of = l.out().dtype();
  if (!is_floating_point(of)) return added(l, "mat1", "mat2");
  l.result(l.op(
      "Gemm", {l.tensor("mat1", of), l.tensor("mat2", of), l.tensor(0, of)},
      {attr("alpha", factor(l, "alpha")), attr("beta", factor(l, "beta"))}));
}

void addmv(Lowering& l) {
  added(l, "mat", "vec");
}

void baddbmm(Lowering& l) {
  added(l, "batch1", "batch2");
}

void addbmm(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string product =
      l.op("MatMul", {l.tensor("batch1", of), l.tensor("batch2", of)});
  const std::string sum = l.reduce("ReduceSum", product, {0}, false, 13);
  l.result(l.op("Add", {times(l, l.tensor(0, of), factor(l, "beta")),
                        times(l, sum, factor(l, "alpha"))}));
}

void outer(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Mul", {l.unsqueeze(l.tensor(0, of), {1}),
                        l.unsqueeze(l.tensor(1, of), {0})}));
}

void einsum(Lowering& l) {
  std::string equation = l.text("equation");
  std::erase(equation, ' ');
  l.result(l.op("Einsum", l.tensors("tensors", l.out().dtype()),
                {attr("equation", equation)}));
}

// x1 W x2, for every output.
void bilinear(Lowering& l) {
  const DType of = l.out().dtype();
  std::string y = l.op(
      "Einsum",
      {l.tensor("input1", of), l.tensor("weight", of), l.tensor("input2", of)},
      {attr("equation", "...i,oij,...j->...o")});
  if (l.given("bias")) y = l.op("Add", {y, l.tensor("bias", of)});
  l.result(y);
}

void tensordot(Lowering& l) {
  const DType of = l.out().dtype();
  const Ints a = l.integers("dims_self");
  const Ints b = l.integers("dims_other");
  std::string x(size_t(l.rank(0)), ' ');
  std::string y(size_t(l.rank(1)), ' ');
  if (x.size() + y.size() > 26) l.refuse("more than 26 dimensions");
  char letter = 'a';
  for (size_t i = 0; i < a.size(); ++i) {
    x[size_t(l.wrap(a[i], l.rank(0)))] = letter;
    y[size_t(l.wrap(b[i], l.rank(1)))] = letter++;
  }
  std::string rest;
  for (std::string* each : {&x, &y}) {
    for (char& at : *each) {
      if (at != ' ') continue;
      at = letter++;
      rest += at;
    }
  }
  l.result(l.op("Einsum", {l.tensor(0, of), l.tensor(1, of)},
                {attr("equation", x + "," + y + "->" + rest)}));
}

void linalg_vecdot(Lowering& l) {
  const DType of = l.out().dtype();
  const int64_t dim = l.has("dim") ? l.integer("dim") : -1;
  l.result(l.reduce("ReduceSum",
                    l.op("Mul", {l.tensor(0, of), l.tensor(1, of)}), {dim},
                    false, 13));
}

constexpr Row kMatmulRows[] = {
    {"linear", linear},
    {"matmul", matmul},
    {"linalg_matmul", matmul},
    {"mm", matmul},
    {"bmm", matmul},
    {"mv", matmul},
    {"dot", matmul},
    {"addmm", addmm},
    {"addmv", addmv},
    {"baddbmm", baddbmm},
    {"addbmm", addbmm},
    {"outer", outer},
    {"ger", outer},
    {"einsum", einsum},
    {"bilinear", bilinear},
    {"tensordot", tensordot},
    {"linalg_vecdot", linalg_vecdot},
};

}  // namespace

Rows matmul_rows() {
  return kMatmulRows;
}

}  // namespace hotaru::exchange::onnx_out
