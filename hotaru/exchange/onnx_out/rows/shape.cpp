// New tensors of the same elements: joined, repeated, turned, padded, cast.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

// To the result's dtype.
void cast(Lowering& l) {
  const std::string x = l.tensor(0);
  const std::string y = l.tensor(0, l.out().dtype());
  l.result(x == y ? l.op("Identity", {x}) : y);
}

// Tensors of a list, or a sequence.
std::string joined(Lowering& l, int64_t dim, bool stacked) {
  const DType of = l.out().dtype();
  const Symbol& list = l.at("tensors");
  if (list.is_sequence()) {
    return l.op("ConcatFromSequence", {list.list->sequence},
                {attr("axis", dim), attr("new_axis", int64_t{stacked})});
  }
  Names parts;
  for (const Symbol& item : list.items()) {
    // Empty vectors join anything.
    if (!stacked && l.out().dim() > 1 && item.is_tensor() &&
        item.cell->example.dim() == 1)
      continue;
    std::string part = l.tensor(item, of);
    parts.push_back(stacked ? l.unsqueeze(part, {dim}) : part);
  }
  return l.op("Concat", parts, {attr("axis", dim)});
}

void cat(Lowering& l) {
  l.result(joined(l, l.wrap(l.integer("dim"), l.out().dim()), false));
}

void stack(Lowering& l) {
  l.result(joined(l, l.wrap(l.integer("dim"), l.out().dim()), true));
}

template <int kDim>
void stacked_along(Lowering& l) {
  const int64_t dim = l.out().dim() == 1 ? 0 : kDim;
  l.result(joined(l, dim, l.example(0).dim() < l.out().dim()));
}

void repeat(Lowering& l) {
  const char* argument = l.has("repeats") ? "repeats" : "dims";
  const std::vector<Symbol>& items = l.at(argument).items();
  std::string x = l.tensor(0);
  const int64_t rank = l.out().dim();
  if (rank > l.rank()) x = l.unsqueeze(x, iota(rank - l.rank()));
  std::vector<Symbol> counts = items;
  while (int64_t(counts.size()) < rank)
    counts.insert(counts.begin(), Symbol(Value(int64_t{1})));
  l.result(l.op("Tile", {x, l.shape(counts)}));
}

void repeat_interleave(Lowering& l) {
  if (!l.has("self") || !l.is_known("repeats"))
    l.refuse("a number of repetitions for each element");
  const int64_t times = l.integer("repeats");
  std::string x = l.tensor(0);
  int64_t rank = l.rank();
  int64_t dim = 0;
  if (l.given("dim")) {
    dim = l.wrap(l.integer("dim"), rank);
  } else {
    x = l.reshape(x, {-1});
    rank = 1;
  }
  Ints counts(size_t(rank + 1), 1);
  counts[size_t(dim + 1)] = times;
  const std::string tiled =
      l.op("Tile", {l.unsqueeze(x, {dim + 1}), l.ints(counts)});
  Names shape;
  if (dim > 0) shape.push_back(l.sizes_of(x, 0, dim));
  shape.push_back(l.ints({-1}));
  if (dim + 1 < rank) shape.push_back(l.sizes_of(x, dim + 1, rank));
  l.result(l.op(
      "Reshape",
      {tiled, shape.size() == 1 ? shape[0]
                                : l.op("Concat", shape, {attr("axis", 0)})}));
}

std::string flipped(Lowering& l, const Ints& dims) {
  const size_t n = dims.size();
  return l.op("Slice", {l.tensor(0), l.ints(Ints(n, -1)),
                        l.ints(Ints(n, std::numeric_limits<int64_t>::min())),
                        l.ints(dims), l.ints(Ints(n, -1))});
}

void flip(Lowering& l) {
  const Ints dims = l.integers("dims");
  if (dims.empty()) return cast(l);
  l.result(flipped(l, all_dims(l, dims, l.rank())));
}

// The elements of the input, of all dimensions where none is given.
std::optional<int64_t> known_size(const Lowering& l,
                                  std::optional<int64_t> dim) {
  if (dim) return l.example(0).size(*dim);
  int64_t count = 1;
  for (int64_t i = 0; i < l.rank(); ++i) {
    const std::optional<int64_t> size = l.example(0).size(i);
    if (!size) return std::nullopt;
    count *= *size;
  }
  return count;
}

// x from `start` on, and what is before it behind that.
std::string turned(const Lowering& l, const std::string& x, int64_t dim,
                   const std::string& start) {
  const std::string axis = l.ints({dim});
  return l.op("Concat",
              {l.op("Slice", {x, start, l.ints({kEnd}), axis}),
               l.op("Slice", {x, l.ints({0}), start, axis})},
              {attr("axis", dim)});
}

void roll(Lowering& l) {
  const Ints shifts = l.integers("shifts");
  const Ints dims = l.integers("dims");
  const bool flat = dims.empty();
  std::string x = flat ? l.reshape(l.tensor(0), {-1}) : l.tensor(0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int64_t dim = flat ? 0 : l.wrap(dims[i], l.rank());
    const auto size = known_size(l, flat ? std::nullopt : std::optional(dim));
    if (size && (*size == 0 || shifts[i] % *size == 0)) continue;
    const std::string back = l.ints({size ? -shifts[i] % *size : -shifts[i]});
    const std::string sizes =
        size ? "" : l.op("Max", {l.sizes_of(x, dim, dim + 1), l.ints({1})});
    x = turned(l, x, dim, size ? back : l.op("Mod", {back, sizes}));
  }
  if (!flat) return l.result(x);
  std::vector<Attribute> attributes;
  if (l.opset() >= 14) {
    attributes.push_back(attr("allowzero", 1));
  } else if (known_size(l, std::nullopt) == 0) {
    l.refuse("of no elements needs opset 14");
  }
  l.result(l.op("Reshape", {x, l.shape_of(l.tensor(0))}, attributes));
}

void meshgrid(Lowering& l) {
  const Symbol& list = l.at("tensors");
  const int64_t n = int64_t(list.items().size());
  const bool xy = l.has("indexing") && l.text("indexing") == "xy" && n > 1;
  auto place = [&](int64_t i) { return xy && i < 2 ? 1 - i : i; };
  Names flat;
  Names sizes(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    flat.push_back(l.reshape(l.tensor(list.items()[size_t(i)]), {-1}));
    sizes[size_t(place(i))] = l.shape_of(flat.back());
  }
  const std::string shape =
      n == 1 ? sizes[0] : l.op("Concat", sizes, {attr("axis", 0)});
  Names out;
  for (int64_t i = 0; i < n; ++i) {
    Ints dims = iota(n);
    std::erase(dims, place(i));
    out.push_back(expanded(
        l, dims.empty() ? flat[size_t(i)] : l.unsqueeze(flat[size_t(i)], dims),
        shape));
  }
  l.results(out);
}

void broadcast_tensors(Lowering& l) {
  Names parts = l.tensors("tensors", l.out().dtype());
  Names out;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string x = parts[i];
    for (size_t j = 0; j < parts.size(); ++j)
      if (j != i) x = expanded(l, x, l.shape_of(parts[j]));
    out.push_back(x);
  }
  l.results(out);
}

template <Text kOp>
void triangle(Lowering& l) {
  if (l.opset() < 14) l.refuse("needs opset 14");
  const bool upper = kOp.data[3] == 'u';
  const DType of = l.dtype();
  // ONNX Runtime has no Trilu of every type.
  const bool plain = of == DType::kFloat32 || of == DType::kFloat64 ||
                     of == DType::kInt64 || of == DType::kBool;
  const DType in = plain ? of : DType::kInt64;
  const std::string y =
      l.op("Trilu", {l.tensor(0, in), l.tensor("diagonal", DType::kInt64)},
           {attr("upper", int64_t{upper})});
  l.result(l.cast(y, in, of));
}

void copy_into(Lowering& l) {
  const std::string source = l.tensor("src", l.dtype());
  l.result(expanded(l, source, l.shape_of(l.tensor(0))));
}

constexpr Row kShapeRows[] = {
    {"to", cast},
    {"_to_copy", cast},
    {"type_as", cast},
    {"float", cast},
    {"double", cast},
    {"half", cast},
    {"bfloat16", cast},
    {"int", cast},
    {"long", cast},
    {"short", cast},
    {"char", cast},
    {"byte", cast},
    {"bool", cast},
    {"cpu", cast},
    {"cuda", cast},
    {"clone", cast},
    {"copy_", copy_into},
    {"cat", cat},
    {"concat", cat},
    {"concatenate", cat},
    {"stack", stack},
    {"hstack", stacked_along<1>},
    {"vstack", stacked_along<0>},
    {"row_stack", stacked_along<0>},
    {"repeat", repeat},
    {"tile", repeat},
    {"repeat_interleave", repeat_interleave},
    {"flip", flip},
    {"roll", roll},
    {"meshgrid", meshgrid},
    {"broadcast_tensors", broadcast_tensors},
    {"tril", triangle<"tril">},
    {"triu", triangle<"triu">},
};

}  // namespace

Rows shape_rows() {
  return kShapeRows;
}

}  // namespace hotaru::exchange::onnx_out
