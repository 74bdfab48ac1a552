// Views: the same elements in another shape, or some of them.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

void identity(Lowering& l) {
  l.result(l.op("Identity", {l.tensor(0)}));
}

// The result's shape where all of it is known.
std::optional<Ints> known_shape(const Lowering& l) {
  Ints out;
  for (int64_t i = 0; i < l.out().dim(); ++i) {
    const std::optional<int64_t> size = l.out().size(i);
    if (!size) return std::nullopt;
    out.push_back(*size);
  }
  return out;
}

// With one size that is not known, -1 stands for it.
std::string target(const Lowering& l, const char* argument) {
  Ints sizes;
  int unknown = 0;
  bool empty = false;
  for (int64_t i = 0; i < l.out().dim(); ++i) {
    const std::optional<int64_t> size = l.out().size(i);
    unknown += size ? 0 : 1;
    empty = empty || size == 0;
    sizes.push_back(size.value_or(-1));
  }
  if (unknown == 0 || (unknown == 1 && !empty)) return l.ints(sizes);
  return l.shape(argument);
}

void reshape(Lowering& l) {
  if (l.has("dtype")) l.refuse("a view of the bytes as another dtype");
  const std::string shape = target(l, l.has("size") ? "size" : "shape");
  std::vector<Attribute> attributes;
  if (l.opset() >= 14) attributes.push_back(attr("allowzero", 1));
  const std::optional<Ints> sizes = known_shape(l);
  const bool zero =
      sizes && std::find(sizes->begin(), sizes->end(), 0) != sizes->end();
  l.result(l.op("Reshape", {l.tensor(0), shape},
                zero ? attributes : std::vector<Attribute>{}));
}

// Sizes that the graph knows only when it runs are taken from the input's.
void flatten(Lowering& l) {
  const int64_t rank = l.rank();
  if (rank == 0) return l.result(l.reshape(l.tensor(0), {1}));
  const int64_t first = l.wrap(l.integer("start_dim"), rank);
  const int64_t last = l.wrap(l.integer("end_dim"), rank);
  if (first == last) return identity(l);
  const std::string x = l.tensor(0);
  Ints sizes;
  int unknown = 0;
  for (int64_t i = 0; i < l.out().dim(); ++i) {
    const std::optional<int64_t> size = l.out().size(i);
    unknown += size ? 0 : 1;
    sizes.push_back(size.value_or(-1));
  }
  if (unknown <= 1) return l.result(l.reshape(x, sizes));
  Names parts;
  if (first > 0) parts.push_back(l.sizes_of(x, 0, first));
  parts.push_back(l.ints({-1}));
  if (last + 1 < rank) parts.push_back(l.sizes_of(x, last + 1, rank));
  l.result(l.op("Reshape", {x, l.op("Concat", parts, {attr("axis", 0)})}));
}

void unflatten(Lowering& l) {
  const int64_t rank = l.rank();
  const int64_t dim = l.wrap(l.integer("dim"), rank);
  const std::string x = l.tensor(0);
  Ints sizes;
  int unknown = 0;
  for (int64_t i = 0; i < l.out().dim(); ++i) {
    const std::optional<int64_t> size = l.out().size(i);
    unknown += size ? 0 : 1;
    sizes.push_back(size.value_or(-1));
  }
  if (unknown <= 1) return l.result(l.reshape(x, sizes));
  Names parts;
  if (dim > 0) parts.push_back(l.sizes_of(x, 0, dim));
  parts.push_back(l.shape("sizes"));
  if (dim + 1 < rank) parts.push_back(l.sizes_of(x, dim + 1, rank));
  l.result(l.op("Reshape", {x, l.op("Concat", parts, {attr("axis", 0)})}));
}

void view_as(Lowering& l) {
  if (const std::optional<Ints> sizes = known_shape(l)) {
    return l.result(l.reshape(l.tensor(0), *sizes));
  }
  l.result(l.op("Reshape", {l.tensor(0), l.shape_of(l.tensor("other"))}));
}

void squeeze(Lowering& l) {
  const int64_t rank = l.rank();
  Ints dims = l.has("dim") ? l.integers("dim") : iota(rank);
  Ints ones;
  for (int64_t dim : dims) {
    if (rank == 0) break;
    dim = l.wrap(dim, rank);
    if (l.example(0).size(dim) == 1) ones.push_back(dim);
  }
  if (ones.empty()) return identity(l);
  l.result(l.squeeze(l.tensor(0), ones));
}

void unsqueeze(Lowering& l) {
  l.result(l.unsqueeze(l.tensor(0), {l.wrap(l.integer("dim"), l.rank() + 1)}));
}

void permuted(Lowering& l, Ints order) {
  l.result(l.transpose(l.tensor(0), order));
}

void transpose(Lowering& l) {
  const int64_t rank = l.rank();
  if (rank < 2) return identity(l);
  Ints order = iota(rank);
  const bool named = l.has("dim0");
  const int64_t a = l.wrap(l.integer(named ? "dim0" : "axis0"), rank);
  const int64_t b = l.wrap(l.integer(named ? "dim1" : "axis1"), rank);
  std::swap(order[size_t(a)], order[size_t(b)]);
  permuted(l, order);
}

void permute(Lowering& l) {
  if (l.rank() == 0) return identity(l);
  permuted(l, all_dims(l, l.integers("dims"), l.rank()));
}

void reversed(Lowering& l) {
  if (l.rank() < 2) return identity(l);
  Ints order = iota(l.rank());
  std::reverse(order.begin(), order.end());
  permuted(l, order);
}

void matrix_transposed(Lowering& l) {
  Ints order = iota(l.rank());
  if (order.size() < 2) return identity(l);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  permuted(l, order);
}

void movedim(Lowering& l) {
  const int64_t rank = l.rank();
  const Ints from = all_dims(l, l.integers("source"), rank);
  const Ints to = all_dims(l, l.integers("destination"), rank);
  Ints order(size_t(rank), -1);
  Ints rest;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(from.begin(), from.end(), i) == from.end()) rest.push_back(i);
  }
  for (size_t i = 0; i < from.size(); ++i) order[size_t(to[i])] = from[i];
  size_t next = 0;
  for (int64_t& at : order) {
    if (at < 0) at = rest[next++];
  }
  permuted(l, order);
}

void expand(Lowering& l) {
  if (const std::optional<Ints> sizes = known_shape(l)) {
    return l.result(expanded(l, l.tensor(0), l.ints(*sizes)));
  }
  // ONNX keeps a size where 1 is asked for; -1 here asks for the same.
  std::vector<Symbol> items = l.at("size").items();
  for (Symbol& item : items) {
    if (item.is_host() && item.host.as_int() == -1) item = Value(int64_t{1});
  }
  l.result(expanded(l, l.tensor(0), l.shape(items)));
}

void expand_as(Lowering& l) {
  l.result(expanded(l, l.tensor(0), l.shape_of(l.tensor("other"))));
}

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
  for (size_t i = 0; i < count; ++i) {
    if (std::optional<int64_t> size = l.out(i).size(dim)) {
      sizes.push_back(*size);
    }
  }
  if (sizes.size() == count) {
    return l.results(
        l.many("Split", {x, l.ints(sizes)}, count, {attr("axis", dim)}));
  }
  if (sizes.size() + 1 != count || l.out(count - 1).size(dim)) {
    if (!l.has("chunks") && !l.has("sections")) {
      l.refuse("into parts whose sizes depend on a dynamic dimension");
    }
    // Equal parts but for the last.
    const std::string parts =
        l.ints({l.integer(l.has("chunks") ? "chunks" : "sections")});
    if (l.has("sections")) {
      l.refuse("into parts whose sizes depend on a dynamic dimension");
    }
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
  for (int64_t i = 0; i < *count; ++i) {
    for (int64_t j = 0; j < size; ++j) places.push_back(i * step + j);
  }
  const std::string at = l.reshape(l.ints(places), {*count, size});
  const std::string y = l.op("Gather", {l.tensor(0), at}, {attr("axis", dim)});
  Ints order = iota(l.rank() + 1);
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  l.result(l.transpose(y, order));
}

constexpr Row kRows[] = {
    {"view", reshape},
    {"_unsafe_view", reshape},
    {"reshape", reshape},
    {"flatten", flatten},
    {"ravel", [](Lowering& l) { l.result(l.reshape(l.tensor(0), {-1})); }},
    {"unflatten", unflatten},
    {"view_as", view_as},
    {"reshape_as", view_as},
    {"squeeze", squeeze},
    {"unsqueeze", unsqueeze},
    {"transpose", transpose},
    {"swapaxes", transpose},
    {"swapdims", transpose},
    {"t", reversed},
    {"numpy_T", reversed},
    {"mT", matrix_transposed},
    {"adjoint", matrix_transposed},
    {"permute", permute},
    {"movedim", movedim},
    {"moveaxis", movedim},
    {"expand", expand},
    {"expand_as", expand_as},
    {"select", select},
    {"slice", slice},
    {"narrow", narrow},
    {"unbind", unbind},
    {"split", split},
    {"split_with_sizes", split},
    {"unsafe_split", split},
    {"unsafe_split_with_sizes", split},
    {"tensor_split", split},
    {"hsplit", split},
    {"chunk", split},
    {"unsafe_chunk", split},
    {"diagonal", diagonal},
    {"unfold", unfold},
    {"contiguous", identity},
    {"alias", identity},
    {"detach", identity},
    {"data", identity},
    {"requires_grad_", identity},
};

}  // namespace

Rows view_rows() {
  return kRows;
}

}  // namespace hotaru::exchange::onnx_out
