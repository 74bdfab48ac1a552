// Attention.
#include <cmath>
#include <limits>

#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

// Heads of keys and values, repeated until there are as many as of queries.
std::string repeated(const Lowering& l, const std::string& x,
                     const char* name) {
  const auto have = l.example(name).size(-3);
  const auto want = l.example("query").size(-3);
  if (!have || !want) l.refuse("a dynamic number of heads");
  if (*have == *want) return x;
  const int64_t rank = l.example(name).dim();
  Ints tile(size_t(rank + 1), 1);
  tile[size_t(rank - 2)] = *want / *have;
  const std::string tiled =
      l.op("Tile", {l.unsqueeze(x, {rank - 2}), l.ints(tile)});
  Names shape;
  if (rank > 3) shape.push_back(l.sizes_of(x, 0, rank - 3));
  shape.push_back(l.ints({*want}));
  shape.push_back(l.sizes_of(x, rank - 2, rank));
  return l.op("Reshape", {tiled, l.op("Concat", shape, {attr("axis", 0)})});
}

std::string range(const Lowering& l, const std::string& size) {
  const std::string zero = l.number(Scalar(int64_t{0}), DType::kInt64);
  const std::string one = l.number(Scalar(int64_t{1}), DType::kInt64);
  return l.op("Range", {zero, l.reshape(size, {}), one});
}

void attention(Lowering& l) {
  const DType of = l.out().dtype();
  if (l.real("dropout_p") > 0) l.refuse("dropout in training mode");
  const std::string q = l.tensor("query", of);
  std::string k = l.tensor("key", of);
  std::string v = l.tensor("value", of);
  if (l.given("enable_gqa") && l.flag("enable_gqa")) {
    k = repeated(l, k, "key");
    v = repeated(l, v, "value");
  }
  const auto width = l.example("query").size(-1);
  if (!width) l.refuse("a dynamic width");
  const double scale =
      l.given("scale") ? l.real("scale") : 1 / std::sqrt(double(*width));
  const int64_t rank = l.example("key").dim();
  Ints order = iota(rank);
  std::swap(order[size_t(rank - 1)], order[size_t(rank - 2)]);
  std::string scores = l.op(
      "MatMul", {l.op("Mul", {q, like(l, scale, of)}), l.transpose(k, order)});
  const std::string never =
      like(l, -std::numeric_limits<double>::infinity(), of);
  bool may_be_empty = false;
  if (l.flag("is_causal")) {
    const std::string rows = l.unsqueeze(
        range(l,
              size_of(l, q, l.example("query"), l.example("query").dim() - 2)),
        {1});
    const std::string columns =
        range(l, size_of(l, k, l.example("key"), rank - 2));
    scores =
        l.op("Where", {l.op("LessOrEqual", {columns, rows}), scores, never});
  }
  if (l.given("attn_mask")) {
    if (l.example("attn_mask").dtype() == DType::kBool) {
      scores = l.op("Where", {l.tensor("attn_mask"), scores, never});
      may_be_empty = true;
    } else {
      scores = l.op("Add", {scores, l.tensor("attn_mask", of)});
    }
  }
  std::string weights = l.op("Softmax", {scores}, {attr("axis", -1)});
  if (may_be_empty) {
    // A row of which nothing is seen gives zeros.
    weights =
        l.op("Where", {l.op("IsNaN", {weights}), like(l, 0, of), weights});
  }
  l.result(l.op("MatMul", {weights, v}));
}

constexpr Row kAttentionRows[] = {
    {"scaled_dot_product_attention", attention},
};

}  // namespace

Rows attention_rows() {
  return kAttentionRows;
}

}  // namespace hotaru::exchange::onnx_out
