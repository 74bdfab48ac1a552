// Sorting and selecting by order.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

Names top(const Lowering& l, const std::string& count, int64_t dim,
          bool largest) {
  return l.many("TopK", {l.tensor(0), count}, 2,
                {attr("axis", dim), attr("largest", int64_t{largest}),
                 attr("sorted", 1)});
}

void topk(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  l.results(top(l, l.one(l.at("k")), dim, l.flag("largest")));
}

Names sorted(const Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  return top(l, size_of(l, l.tensor(0), l.example(0), dim), dim,
             l.flag("descending"));
}

void sort(Lowering& l) {
  l.results(sorted(l));
}

void argsort(Lowering& l) {
  l.result(sorted(l)[1]);
}

void msort(Lowering& l) {
  l.result(top(l, size_of(l, l.tensor(0), l.example(0), 0), 0, false)[0]);
}

// The last of the k smallest.
void kthvalue(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const int64_t k = l.integer("k");
  const Names all = top(l, l.ints({k}), dim, false);
  Names out;
  for (const std::string& each : all) {
    const std::string last = l.slice(each, dim, k - 1, k);
    out.push_back(l.flag("keepdim") ? last : l.squeeze(last, {dim}));
  }
  l.results(out);
}

void median(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::optional<int64_t> size = l.example(0).size(dim);
  if (!size) l.refuse("of a dynamic dimension");
  const int64_t middle = (*size - 1) / 2;
  const Names all = top(l, l.ints({*size}), dim, false);
  Names out;
  for (const std::string& each : all) {
    const std::string one = l.slice(each, dim, middle, middle + 1);
    out.push_back(l.flag("keepdim") ? one : l.squeeze(one, {dim}));
  }
  l.results(out);
}

void bucketize(Lowering& l) {
  // As many boundaries as lie below.
  const bool right = l.has("right") && l.flag("right");
  const std::string x = l.unsqueeze(l.tensor("self"), {-1});
  const std::string below = l.op(right ? "LessOrEqual" : "Less",
                                 {l.tensor("boundaries", l.dtype()), x});
  const std::string count = l.reduce(
      "ReduceSum", l.cast(below, DType::kBool, DType::kInt64), {-1}, false, 13);
  l.result(l.cast(count, DType::kInt64, l.out().dtype()));
}

constexpr Row kOrderRows[] = {
    {"topk", topk},
    {"sort", sort},
    {"argsort", argsort},
    {"msort", msort},
    {"median.dim", of_lines<median>},
    {"kthvalue", of_lines<kthvalue>},
    {"bucketize", bucketize},
};

}  // namespace

Rows order_rows() {
  return kOrderRows;
}

}  // namespace hotaru::exchange::onnx_out
