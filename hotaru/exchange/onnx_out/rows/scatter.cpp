// Elements written by their places.
#include "hotaru/core/printing/concat.h"
#include "hotaru/exchange/onnx_out/rows/common.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

namespace {

// reduce: none, or PyTorch's names.
void scattered(Lowering& l, const std::string& source,
               const std::string& reduce) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  std::vector<Attribute> attributes = {attr("axis", dim)};
  if (!reduce.empty()) {
    std::string name = reduce == "sum" ? "add" : reduce;
    if (name == "multiply" || name == "prod") name = "mul";
    if (name == "amax") name = "max";
    if (name == "amin") name = "min";
    if (name == "mean") l.refuse("ONNX has no mean of what is scattered");
    const int64_t since = name == "max" || name == "min" ? 18 : 16;
    if (l.opset() < since)
      l.refuse(concat("'", reduce, "' needs opset ", since));
    attributes.push_back(attr("reduction", name));
  }
  l.result(l.op("ScatterElements",
                {l.tensor(0), l.tensor("index", DType::kInt64), source},
                attributes));
}

// The part of the source that the index covers.
std::string covered(const Lowering& l) {
  const std::string src = l.tensor("src", l.dtype());
  const Example& index = l.example("index");
  const Example& source = l.example("src");
  if (std::ranges::equal(index.first.sizes(), source.first.sizes())) return src;
  const Ints dims = iota(index.dim());
  return l.op("Slice", {src, l.ints(Ints(dims.size(), 0)),
                        l.shape_of(l.tensor("index")), l.ints(dims)});
}

void scatter(Lowering& l) {
  const std::string reduce = l.given("reduce") ? l.text("reduce") : "";
  if (l.given("include_self") && !l.flag("include_self"))
    l.refuse("without the elements that were there");
  if (l.has("value")) {
    const std::string value = l.tensor("value", l.dtype());
    return scattered(l, filled(l, value, l.shape_of(l.tensor("index"))),
                     reduce);
  }
  scattered(l, covered(l), reduce);
}

void scatter_add(Lowering& l) {
  scattered(l, covered(l), "add");
}

// Rows of a dimension, written by an index of one dimension.
void index_rows_written(Lowering& l, const std::string& source, bool add) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string x = l.tensor(0);
  std::string index = l.tensor("index", DType::kInt64);
  Ints dims = iota(l.rank());
  std::erase(dims, dim);
  if (!dims.empty()) index = l.unsqueeze(index, dims);
  index = expanded(l, index, l.shape_of(source));
  std::vector<Attribute> attributes = {attr("axis", dim)};
  if (add) attributes.push_back(attr("reduction", "add"));
  l.result(l.op("ScatterElements", {x, index, source}, attributes));
}

void index_copy(Lowering& l) {
  index_rows_written(l, l.tensor("source", l.dtype()), false);
}

void index_add(Lowering& l) {
  if (l.opset() < 16) l.refuse("needs opset 16");
  std::string source = l.tensor("source", l.dtype());
  if (l.has("alpha") && l.scalar("alpha").to_double() != 1)
    source = l.op("Mul", {source, l.tensor("alpha", l.dtype())});
  index_rows_written(l, source, true);
}

void index_fill(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string rows =
      l.op("Gather", {l.tensor(0), l.tensor("index", DType::kInt64)},
           {attr("axis", dim)});
  index_rows_written(
      l, filled(l, l.tensor("value", l.dtype()), l.shape_of(rows)), false);
}

constexpr Row kScatterRows[] = {
    {"scatter", of_lines<scatter>},
    {"scatter_reduce", of_lines<scatter>},
    {"scatter_add", of_lines<scatter_add>},
    {"index_copy", of_lines<index_copy>},
    {"index_add", of_lines<index_add>},
    {"index_fill", of_lines<index_fill>},
};

}  // namespace

Rows scatter_rows() {
  return kScatterRows;
}

}  // namespace hotaru::exchange::onnx_out
