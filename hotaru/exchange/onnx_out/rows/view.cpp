// Views: the same elements in another shape, or some of them.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

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
  if (const std::optional<Ints> sizes = known_shape(l))
    return l.result(l.reshape(l.tensor(0), *sizes));
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
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(from.begin(), from.end(), i) == from.end()) rest.push_back(i);
  for (size_t i = 0; i < from.size(); ++i) order[size_t(to[i])] = from[i];
  size_t next = 0;
  for (int64_t& at : order)
    if (at < 0) at = rest[next++];
  permuted(l, order);
}

void expand(Lowering& l) {
  if (const std::optional<Ints> sizes = known_shape(l))
    return l.result(expanded(l, l.tensor(0), l.ints(*sizes)));
  // ONNX keeps a size where 1 is asked for; -1 here asks for the same.
  std::vector<Symbol> items = l.at("size").items();
  for (Symbol& item : items)
    if (item.is_host() && item.host.as_int() == -1) item = Value(int64_t{1});
  l.result(expanded(l, l.tensor(0), l.shape(items)));
}

void expand_as(Lowering& l) {
  l.result(expanded(l, l.tensor(0), l.shape_of(l.tensor("other"))));
}

constexpr Row kViewRows[] = {
    {"view", reshape},
    {"_unsafe_view", reshape},
    {"reshape", reshape},
    {"flatten", flatten},
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
    {"contiguous", identity},
    {"broadcast_to", expand},
    {"alias", identity},
    {"detach", identity},
    {"data", identity},
    {"requires_grad_", identity},
};

}  // namespace

Rows view_rows() {
  return kViewRows;
}

}  // namespace hotaru::exchange::onnx_out
