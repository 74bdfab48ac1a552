#include "hotaru/exchange/onnx_out/rows/common.h"

#include <cmath>
#include <numeric>

#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"

namespace hotaru::exchange::onnx_out {

DType common_dtype(const Lowering& l, int a, int b) {
  const Symbol& x = l.at(a);
  const Symbol& y = l.at(b);
  if (x.is_tensor() && y.is_tensor())
    return result_type({x.cell->example.first, y.cell->example.first});
  const Symbol& tensor = x.is_tensor() ? x : y;
  const Symbol& number = x.is_tensor() ? y : x;
  const DType of = tensor.cell->example.dtype();
  const Value value = number.is_number() ? number.number->first : number.host;
  if (is_floating_point(of)) return of;
  if (value.is_double()) return DType::kFloat32;
  return of == DType::kBool && !value.is_bool() ? DType::kInt64 : of;
}

std::string expanded(const Lowering& l, const std::string& value,
                     const std::string& shape) {
  return l.op("Expand", {value, shape});
}

std::string filled(const Lowering& l, const std::string& number,
                   const std::string& shape) {
  return l.op("Expand", {number, shape});
}

Ints iota(int64_t n) {
  Ints out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Ints all_dims(const Lowering& l, Ints dims, int64_t rank) {
  if (dims.empty()) return iota(rank);
  for (int64_t& dim : dims) dim = l.wrap(dim, rank);
  return dims;
}

std::string size_of(const Lowering& l, const std::string& value,
                    const Example& example, int64_t dim) {
  if (std::optional<int64_t> size = example.size(dim)) return l.ints({*size});
  return l.sizes_of(value, dim, dim + 1);
}

std::string norm_over(const Lowering& l, const std::string& x, double p,
                      const Ints& dims, bool keep) {
  if (p == 2) return l.reduce("ReduceL2", x, dims, keep);
  if (p == 1) return l.reduce("ReduceL1", x, dims, keep);
  const std::string size = l.op("Abs", {x});
  if (std::isinf(p))
    return l.reduce(p > 0 ? "ReduceMax" : "ReduceMin", size, dims, keep);
  if (p == 0)
    return l.reduce("ReduceSum", l.op("Sign", {size}), dims, keep, 13);
  const DType of = l.out().dtype();
  const std::string sum = l.reduce(
      "ReduceSum", l.op("Pow", {size, like(l, p, of)}), dims, keep, 13);
  return l.op("Pow", {sum, like(l, 1 / p, of)});
}

std::string reduced(const Lowering& l, const std::string& value,
                    int64_t reduction) {
  if (reduction == 0) return value;
  return l.op(reduction == 1 ? "ReduceMean" : "ReduceSum", {value},
              {attr("keepdims", 0)});
}

}  // namespace hotaru::exchange::onnx_out
