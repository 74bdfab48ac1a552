// Elements by their places.
#include "hotaru/exchange/onnx_out/rows/common.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

namespace {

// How many elements a mask is taken to have: any two numbers say "unknown".
constexpr int64_t kSome[2] = {3, 5};

Tensor meta(const Dims& sizes, DType dtype) {
  return empty(sizes, TensorOptions(dtype, Device{DeviceType::kMeta}));
}

// An index as int64 tensors, each for one dimension: a mask stands for as many
// as it has.
struct Index {
  int64_t first = 0;  // the dimension of the first that is given
  Names tensors;      // without gaps
  int64_t rank = 0;   // of the indices, broadcast
  bool masked = false;
};

bool is_mask(const Symbol& symbol) {
  return symbol.is_tensor() && (symbol.cell->example.dtype() == DType::kBool ||
                                symbol.cell->example.dtype() == DType::kUInt8);
}

Index read_index(const Lowering& l) {
  Index out;
  int64_t dim = 0;
  bool begun = false;
  bool ended = false;
  for (const Symbol& item : l.at("indices").items()) {
    if (item.is_none()) {
      ended = ended || begun;
      ++dim;
      continue;
    }
    if (ended) l.refuse("indices with a slice between them");
    if (!begun) out.first = dim;
    begun = true;
    if (is_mask(item)) {
      const int64_t rank = item.cell->example.dim();
      const std::string places =
          l.op("NonZero", {l.tensor(item, DType::kBool)});
      for (int64_t i = 0; i < rank; ++i) {
        out.tensors.push_back(l.op("Gather",
                                   {places, l.number(Scalar(i), DType::kInt64)},
                                   {attr("axis", 0)}));
      }
      out.masked = true;
      out.rank = std::max<int64_t>(out.rank, 1);
      dim += rank;
      continue;
    }
    out.tensors.push_back(l.tensor(item, DType::kInt64));
    out.rank = std::max(out.rank, item.cell->example.dim());
    ++dim;
  }
  return out;
}

// [..., k] places for GatherND and ScatterND.
std::string stacked(const Lowering& l, const Index& index) {
  Names parts = index.tensors;
  if (parts.size() > 1) {
    std::string shape = l.shape_of(parts[0]);
    // Sum of the shape that all of them broadcast to.
    std::string sum = parts[0];
    for (size_t i = 1; i < parts.size(); ++i)
      sum = l.op("Add", {sum, parts[i]});
    shape = l.shape_of(sum);
    for (std::string& part : parts) part = expanded(l, part, shape);
  }
  for (std::string& part : parts) part = l.unsqueeze(part, {-1});
  return parts.size() == 1 ? parts[0]
                           : l.op("Concat", parts, {attr("axis", -1)});
}

// Indices below zero count from the end, which GatherND knows; ScatterND of
// ONNX Runtime does, too.
void index(Lowering& l) {
  const Index index = read_index(l);
  const std::string x = l.tensor(0);
  if (index.tensors.empty()) return l.result(l.op("Identity", {x}));
  if (index.tensors.size() == 1) {
    return l.result(
        l.op("Gather", {x, index.tensors[0]}, {attr("axis", index.first)}));
  }
  const int64_t rank = l.rank();
  const int64_t count = int64_t(index.tensors.size());
  std::string from = x;
  if (index.first > 0) {
    Ints order;
    for (int64_t i = 0; i < count; ++i) order.push_back(index.first + i);
    for (int64_t i = 0; i < rank; ++i)
      if (i < index.first || i >= index.first + count) order.push_back(i);
    from = l.transpose(x, order);
  }
  std::string y = l.op("GatherND", {from, stacked(l, index)});
  if (index.first > 0) {
    // Where the indices' dimensions came from, they go back to.
    Ints order;
    for (int64_t i = 0; i < index.first; ++i) order.push_back(index.rank + i);
    for (int64_t i = 0; i < index.rank; ++i) order.push_back(i);
    for (int64_t i = index.rank + index.first; i < index.rank + rank - count;
         ++i)
      order.push_back(i);
    y = l.transpose(y, order);
  }
  l.result(y);
}

// A mask's result has as many elements as it has ones.
void index_examples(Lowering& l) {
  Example out;
  for (int world = 0; world < 2; ++world) {
    const Tensor& self = l.example(0).at(world);
    Ints before, after, places;
    int64_t dim = 0;
    bool begun = false;
    for (const Symbol& item : l.at("indices").items()) {
      if (item.is_none()) {
        (begun ? after : before).push_back(self.size(dim++));
        continue;
      }
      begun = true;
      const Tensor& tensor = item.cell->example.at(world);
      if (is_mask(item)) {
        dim += tensor.dim();
        if (places.empty()) places = {kSome[world]};
        continue;
      }
      ++dim;
      // Broadcast.
      const IntSpan sizes = tensor.sizes();
      while (places.size() < sizes.size()) places.insert(places.begin(), 1);
      for (size_t i = 0; i < sizes.size(); ++i) {
        int64_t& place = places[places.size() - sizes.size() + i];
        if (sizes[i] != 1) place = sizes[i];
      }
    }
    for (; dim < self.dim(); ++dim) after.push_back(self.size(dim));
    Ints sizes = before;
    sizes.insert(sizes.end(), places.begin(), places.end());
    sizes.insert(sizes.end(), after.begin(), after.end());
    (world ? out.second : out.first) = meta(Dims(sizes), self.dtype());
  }
  const bool fixed = std::ranges::equal(out.first.sizes(), out.second.sizes());
  if (fixed) out.second = out.first;
  l.set_outs({out});
}

void index_put_examples(Lowering& l) {
  l.set_outs({l.example(0)});
}

void index_put(Lowering& l) {
  const bool add = l.flag("accumulate");
  const DType of = l.dtype();
  const std::string x = l.tensor(0);
  const auto& items = l.at("indices").items();
  // One mask and one value: a choice.
  if (items.size() == 1 && is_mask(items[0]) && !add &&
      l.example("values").first.numel() == 1 &&
      l.example("values").second.numel() == 1) {
    std::string mask = l.tensor(items[0], DType::kBool);
    const int64_t rank = items[0].cell->example.dim();
    Ints dims;
    for (int64_t i = rank; i < l.rank(); ++i) dims.push_back(i);
    if (!dims.empty()) mask = l.unsqueeze(mask, dims);
    std::string value = l.tensor("values", of);
    if (l.example("values").dim() > 0) value = l.reshape(value, Ints{});
    return l.result(l.op("Where", {mask, value, x}));
  }
  const Index index = read_index(l);
  const int64_t rank = l.rank();
  const int64_t count = int64_t(index.tensors.size());
  Ints order;
  for (int64_t i = 0; i < count; ++i) order.push_back(index.first + i);
  for (int64_t i = 0; i < rank; ++i)
    if (i < index.first || i >= index.first + count) order.push_back(i);
  const bool turned = index.first > 0;
  const std::string target = turned ? l.transpose(x, order) : x;
  const std::string places = stacked(l, index);
  // Values have the shape of what they replace: the indices' and then that of
  // an element.
  std::string value = l.tensor("values", of);
  if (turned && l.example("values").dim() == rank - count + index.rank &&
      index.rank + index.first <= l.example("values").dim()) {
    Ints moved;
    for (int64_t i = 0; i < index.rank; ++i) moved.push_back(index.first + i);
    for (int64_t i = 0; i < l.example("values").dim(); ++i)
      if (i < index.first || i >= index.first + index.rank) moved.push_back(i);
    value = l.transpose(value, moved);
  }
  Names shape = {l.sizes_of(places, 0, index.rank)};
  if (count < rank) shape.push_back(l.sizes_of(target, count, rank));
  value = expanded(
      l, value,
      shape.size() == 1 ? shape[0] : l.op("Concat", shape, {attr("axis", 0)}));
  std::vector<Attribute> attributes;
  if (add) {
    if (l.opset() < 16) l.refuse("accumulating needs opset 16");
    attributes.push_back(attr("reduction", "add"));
  }
  std::string y = l.op("ScatterND", {target, places, value}, attributes);
  if (turned) {
    Ints back(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      back[size_t(order[i])] = int64_t(i);
    y = l.transpose(y, back);
  }
  l.result(y);
}

void gather(Lowering& l) {
  if (l.rank() == 0) return l.result(l.op("Identity", {l.tensor(0)}));
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  l.result(l.op("GatherElements",
                {l.tensor(0), l.tensor("index", DType::kInt64)},
                {attr("axis", dim)}));
}

void take_along_dim(Lowering& l) {
  if (!l.given("dim")) {
    return l.result(l.op("GatherElements",
                         {l.reshape(l.tensor(0), {-1}),
                          l.reshape(l.tensor("indices", DType::kInt64), {-1})},
                         {attr("axis", 0)}));
  }
  // Both broadcast but along the dimension.
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string x = l.tensor(0);
  const std::string index = l.tensor("indices", DType::kInt64);
  auto spread = [&](const std::string& value, const std::string& other) {
    Names sizes;
    if (dim > 0) sizes.push_back(l.sizes_of(other, 0, dim));
    sizes.push_back(l.sizes_of(value, dim, dim + 1));
    if (dim + 1 < l.rank())
      sizes.push_back(l.sizes_of(other, dim + 1, l.rank()));
    return expanded(l, value,
                    sizes.size() == 1
                        ? sizes[0]
                        : l.op("Concat", sizes, {attr("axis", 0)}));
  };
  bool alike = true;
  for (int64_t i = 0; i < l.rank(); ++i)
    alike = alike && (i == dim ||
                      (l.example(0).size(i) &&
                       l.example(0).size(i) == l.example("indices").size(i)));
  l.result(
      l.op("GatherElements",
           {alike ? x : spread(x, index), alike ? index : spread(index, x)},
           {attr("axis", dim)}));
}

void index_select(Lowering& l) {
  if (l.rank() == 0) return l.result(l.op("Identity", {l.tensor(0)}));
  l.result(l.op("Gather", {l.tensor(0), l.tensor("index", DType::kInt64)},
                {attr("axis", l.wrap(l.integer("dim"), l.rank()))}));
}

void embedding(Lowering& l) {
  l.result(
      l.op("Gather", {l.tensor("weight"), l.tensor("indices", DType::kInt64)}));
}

void nonzero_examples(Lowering& l) {
  const int64_t rank = l.rank();
  l.set_outs({{meta({kSome[0], rank}, DType::kInt64),
               meta({kSome[1], rank}, DType::kInt64)}});
}

void nonzero(Lowering& l) {
  l.result(l.transpose(l.op("NonZero", {l.tensor(0)}), {1, 0}));
}

void where_examples(Lowering& l) {
  std::vector<Example> outs(size_t(l.rank()),
                            Example{meta({kSome[0]}, DType::kInt64),
                                    meta({kSome[1]}, DType::kInt64)});
  l.set_outs(outs);
}

void where(Lowering& l) {
  const std::string places = l.op("NonZero", {l.tensor(0)});
  Names out;
  for (int64_t i = 0; i < l.rank(); ++i) {
    out.push_back(l.op("Gather", {places, l.number(Scalar(i), DType::kInt64)},
                       {attr("axis", 0)}));
  }
  l.results(out);
}

void masked_select_examples(Lowering& l) {
  l.set_outs({{meta({kSome[0]}, l.dtype()), meta({kSome[1]}, l.dtype())}});
}

void masked_select(Lowering& l) {
  std::string x = l.tensor(0);
  std::string mask = l.tensor("mask", DType::kBool);
  if (!std::ranges::equal(l.example(0).first.sizes(),
                          l.example("mask").first.sizes())) {
    const std::string both = l.shape_of(l.op("Where", {mask, x, x}));
    x = expanded(l, x, both);
    mask = expanded(l, mask, both);
  }
  l.result(l.op("Compress", {l.reshape(x, {-1}), l.reshape(mask, {-1})},
                {attr("axis", 0)}));
}

void take(Lowering& l) {
  l.result(l.op("Gather", {l.reshape(l.tensor(0), {-1}),
                           l.tensor("index", DType::kInt64)}));
}

constexpr Row kIndexRows[] = {
    {"index", index, index_examples},
    {"index_put", index_put, index_put_examples},
    {"_index_put_impl", index_put, index_put_examples},
    {"gather", gather},
    {"take_along_dim", of_lines<take_along_dim>},
    {"take", take},
    {"index_select", index_select},
    {"embedding", embedding},
    {"nonzero", nonzero, nonzero_examples},
    {"argwhere", nonzero, nonzero_examples},
    {"where", where, where_examples},
    {"nonzero_numpy", where, where_examples},
    {"masked_select", masked_select, masked_select_examples},
};

}  // namespace

Rows index_rows() {
  return kIndexRows;
}

}  // namespace hotaru::exchange::onnx_out
