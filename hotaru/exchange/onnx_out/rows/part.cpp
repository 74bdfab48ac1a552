// Views of some of the elements.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

void select(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  l.result(l.op("Gather", {l.tensor(0), l.tensor(l.at("index"), DType::kInt64)},
                {attr("axis", dim)}));
}

void slice(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string begin =
      l.given("start") ? l.one(l.at("start")) : l.ints({0});
  const std::string end = l.given("end") ? l.one(l.at("end")) : l.ints({kEnd});
  l.result(l.op("Slice",
                {l.tensor(0), begin, end, l.ints({dim}), l.one(l.at("step"))}));
}

void narrow(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string begin = l.one(l.at("start"));
  const std::string end = l.op("Add", {begin, l.one(l.at("length"))});
  l.result(l.op("Slice", {l.tensor(0), begin, end, l.ints({dim})}));
}

void unbind(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  Names out;
  for (size_t i = 0; i < l.outs(); ++i) {
    out.push_back(l.op(
        "Gather", {l.tensor(0), l.number(Scalar(int64_t(i)), DType::kInt64)},
        {attr("axis", dim)}));
  }
  l.results(out);
}

// Parts of known sizes one after the other; the last may be of any size.
void split(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string x = l.tensor(0);
  const size_t count = l.outs();
  Ints sizes;
  for (size_t i = 0; i < count; ++i)
    if (std::optional<int64_t> size = l.out(i).size(dim))
      sizes.push_back(*size);
  if (sizes.size() == count) {
    return l.results(
        l.many("Split", {x, l.ints(sizes)}, count, {attr("axis", dim)}));
  }
  if (sizes.size() + 1 != count || l.out(count - 1).size(dim)) {
    if (!l.has("chunks") && !l.has("sections"))
      l.refuse("into parts whose sizes depend on a dynamic dimension");
    // Equal parts but for the last.
    const std::string parts =
        l.ints({l.integer(l.has("chunks") ? "chunks" : "sections")});
    if (l.has("sections"))
      l.refuse("into parts whose sizes depend on a dynamic dimension");
    const std::string size = l.sizes_of(x, dim, dim + 1);
    const std::string each = l.op(
        "Div", {l.op("Sub", {l.op("Add", {size, parts}), l.ints({1})}), parts});
    Names out;
    std::string begin = l.ints({0});
    for (size_t i = 0; i < count; ++i) {
      const std::string end = l.op("Add", {begin, each});
      out.push_back(l.op("Slice", {x, begin, end, l.ints({dim})}));
      begin = end;
    }
    return l.results(out);
  }
  Names out;
  int64_t begin = 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t end = i + 1 < count ? begin + sizes[i] : kEnd;
    out.push_back(l.slice(x, dim, begin, end));
    begin = end;
  }
  l.results(out);
}

void diagonal(Lowering& l) {
  const int64_t rank = l.rank();
  const int64_t a = l.wrap(l.integer("dim1"), rank);
  const int64_t b = l.wrap(l.integer("dim2"), rank);
  const int64_t offset = l.integer("offset");
  const std::optional<int64_t> count = l.out().size(-1);
  if (!count) l.refuse("of a dynamic dimension");
  Ints order = iota(rank);
  std::erase(order, a);
  std::erase(order, b);
  order.insert(order.begin(), {a, b});
  const std::string x = l.transpose(l.tensor(0), order);
  Ints places;
  for (int64_t i = 0; i < *count; ++i) {
    places.push_back(i + std::max<int64_t>(0, -offset));
    places.push_back(i + std::max<int64_t>(0, offset));
  }
  const std::string at = l.reshape(l.ints(places), {*count, 2});
  std::string y = l.op("GatherND", {x, at});
  Ints back = iota(rank - 1);
  std::rotate(back.begin(), back.begin() + 1, back.end());
  l.result(rank == 2 ? y : l.transpose(y, back));
}

// Windows of a dimension, each at the end.
void unfold(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dimension"), l.rank());
  const int64_t size = l.integer("size");
  const int64_t step = l.integer("step");
  const std::optional<int64_t> count = l.out().size(dim);
  if (!count) l.refuse("of a dynamic dimension");
  Ints places;
  for (int64_t i = 0; i < *count; ++i)
    for (int64_t j = 0; j < size; ++j) places.push_back(i * step + j);
  const std::string at = l.reshape(l.ints(places), {*count, size});
  const std::string y = l.op("Gather", {l.tensor(0), at}, {attr("axis", dim)});
  Ints order = iota(l.rank() + 1);
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  l.result(l.transpose(y, order));
}

constexpr Row kPartRows[] = {
    {"select", select},      {"slice", slice},
    {"narrow", narrow},      {"unbind", unbind},
    {"split", split},        {"split_with_sizes", split},
    {"unsafe_split", split}, {"unsafe_split_with_sizes", split},
    {"tensor_split", split}, {"hsplit", split},
    {"chunk", split},        {"unsafe_chunk", split},
    {"diagonal", diagonal},  {"unfold", of_lines<unfold>},
};

}  // namespace

Rows part_rows() {
  return kPartRows;
}

}  // namespace hotaru::exchange::onnx_out
