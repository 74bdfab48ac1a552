// Numbers of the host: sizes, what is computed of them, what is read out of
// tensors.
#include <algorithm>

#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

DType of_result(const Lowering& l) {
  return number_dtype(l.value());
}

std::string number(const Lowering& l, int i, DType of) {
  return l.tensor(i, of);
}

template <Text kOp>
void arithmetic(Lowering& l) {
  const DType of = of_result(l);
  l.result(l.op(kOp.data, {number(l, 0, of), number(l, 1, of)}));
}

void divide(Lowering& l) {
  l.result(l.op(
      "Div", {number(l, 0, DType::kFloat64), number(l, 1, DType::kFloat64)}));
}

// Division of integers goes towards zero in ONNX.
void floordiv(Lowering& l) {
  const DType of = of_result(l);
  const std::string x = number(l, 0, of);
  const std::string y = number(l, 1, of);
  if (of == DType::kFloat64)
    return l.result(l.op("Floor", {l.op("Div", {x, y})}));
  // The usual case, a size by a positive constant, is plain division.
  if (l.at(1).is_host() && l.at(1).host.as_int() > 0 && l.at(0).is_number() &&
      l.at(0).number->first.as_int() >= 0 &&
      l.at(0).number->second.as_int() >= 0)
    return l.result(l.op("Div", {x, y}));
  const std::string rest = l.op("Mod", {x, y});
  l.result(l.op("Div", {l.op("Sub", {x, rest}), y}));
}

void remainder(Lowering& l) {
  const DType of = of_result(l);
  const std::string x = number(l, 0, of);
  const std::string y = number(l, 1, of);
  if (of == DType::kInt64) return l.result(l.op("Mod", {x, y}));
  const std::string whole = l.op("Floor", {l.op("Div", {x, y})});
  l.result(l.op("Sub", {x, l.op("Mul", {whole, y})}));
}

void negate(Lowering& l) {
  l.result(l.op("Neg", {number(l, 0, of_result(l))}));
}

template <Text kOp>
void function(Lowering& l) {
  // floor and ceil give integers.
  const DType of = of_result(l);
  const DType in = l.at(0).is_number() &&
                           l.at(0).number->dtype == DType::kInt64 &&
                           of == DType::kInt64
                       ? DType::kInt64
                       : DType::kFloat64;
  l.result(l.cast(l.op(kOp.data, {number(l, 0, in)}), in, of));
}

DType common(const Lowering& l) {
  DType out = DType::kBool;
  for (int i = 0; i < 2; ++i) {
    const Symbol& x = l.at(i);
    const DType of = x.is_number() ? x.number->dtype : number_dtype(x.host);
    if (of == DType::kFloat64 || out == DType::kFloat64)
      out = DType::kFloat64;
    else if (of == DType::kInt64)
      out = DType::kInt64;
  }
  return out;
}

// Sizes that a program compares: lists of ints, some of which are not known.
void compare_lists(Lowering& l, bool negated) {
  size_t lengths[2];
  for (int i = 0; i < 2; ++i) {
    const Value list = l.at(i).in_world(0);
    const auto& items = list.as_list().items;
    lengths[i] = items.size();
    const bool ints = std::all_of(items.begin(), items.end(),
                                  [](const Value& v) { return v.is_int(); });
    if (!ints || l.at(i).is_sequence()) l.refuse("lists of other than ints");
  }
  if (lengths[0] != lengths[1]) return l.result(Symbol(Value(negated)));
  const std::string same =
      l.op("Equal", {l.shape(l.schema().arguments[0].name.c_str()),
                     l.shape(l.schema().arguments[1].name.c_str())});
  const std::string all = l.reduce(
      "ReduceMin", l.cast(same, DType::kBool, DType::kInt64), {0}, false);
  const std::string equal = l.cast(all, DType::kInt64, DType::kBool);
  l.result(negated ? l.op("Not", {equal}) : equal);
}

template <Text kOp, bool kNegated = false>
void compare(Lowering& l) {
  if (l.schema().arguments[0].type.list) return compare_lists(l, kNegated);
  DType of = common(l);
  if (of == DType::kBool && kOp.data[0] != 'E') of = DType::kInt64;
  const std::string y = l.op(kOp.data, {number(l, 0, of), number(l, 1, of)});
  l.result(kNegated ? l.op("Not", {y}) : y);
}

template <Text kOp>
void logical(Lowering& l) {
  if (of_result(l) != DType::kBool) l.refuse("bits of integers");
  l.result(
      l.op(kOp.data, {number(l, 0, DType::kBool), number(l, 1, DType::kBool)}));
}

void negated(Lowering& l) {
  l.result(l.op("Not", {number(l, 0, DType::kBool)}));
}

// Converts a tensor's only element, which is not known, or a number.
void converted(Lowering& l, DType to, Value first, Value second) {
  if (!l.at(0).is_tensor()) return l.result(l.tensor(0, to));
  std::string x = l.tensor(0, to);
  if (l.rank() > 0) x = l.reshape(x, {});
  l.result(Symbol::of_number(x, to, std::move(first), std::move(second)));
}

void to_int(Lowering& l) {
  converted(l, DType::kInt64, Value(int64_t{2}), Value(int64_t{3}));
}
void to_float(Lowering& l) {
  converted(l, DType::kFloat64, Value(1.5), Value(1.5));
}
void to_bool(Lowering& l) {
  converted(l, DType::kBool, Value(true), Value(true));
}

void item(Lowering& l) {
  const DType of = l.dtype();
  if (of == DType::kBool) return to_bool(l);
  return is_floating_point(of) ? to_float(l) : to_int(l);
}

Symbol size_at(const Lowering& l, int64_t dim) {
  const Example& example = l.example(0);
  if (std::optional<int64_t> size = example.size(dim)) return Value(*size);
  const std::string one = l.sizes_of(l.tensor(0), dim, dim + 1);
  // An importer sees at once that this is a number.
  return Symbol::of_number(l.squeeze(one, {0}), DType::kInt64,
                           Value(example.first.size(dim)),
                           Value(example.second.size(dim)));
}

void size(Lowering& l) {
  if (l.given("dim"))
    return l.result(size_at(l, l.wrap(l.integer("dim"), l.rank())));
  std::vector<Symbol> out;
  for (int64_t i = 0; i < l.rank(); ++i) out.push_back(size_at(l, i));
  l.result(Symbol::list_of(std::move(out), l.emitter().depth()));
}

void length(Lowering& l) {
  l.result(size_at(l, 0));
}

void numel(Lowering& l) {
  l.result(l.op("Size", {l.tensor(0)}));
}

// Rounds of range(low, high, step).
void range_length(Lowering& l) {
  const std::string low = l.tensor(0, DType::kInt64);
  const std::string high = l.tensor(1, DType::kInt64);
  const int64_t step = l.integer("step");
  const std::string one =
      l.number(Scalar(step > 0 ? step - 1 : step + 1), DType::kInt64);
  const std::string span = l.op("Add", {l.op("Sub", {high, low}), one});
  const std::string count =
      l.op("Div", {span, l.number(Scalar(step), DType::kInt64)});
  l.result(l.op("Max", {count, l.number(Scalar(int64_t{0}), DType::kInt64)}));
}

void derived_index(Lowering& l) {
  const std::string way =
      l.op("Mul", {l.tensor(0, DType::kInt64), l.tensor(2, DType::kInt64)});
  l.result(l.op("Add", {l.tensor(1, DType::kInt64), way}));
}

// The sum, product, extreme of numbers of a list.
void sum(Lowering& l) {
  const DType of = of_result(l);
  std::string out;
  for (const Symbol& item : l.at(0).items()) {
    const std::string x = l.tensor(item, of);
    out = out.empty() ? x : l.op("Add", {out, x});
  }
  l.result(out.empty() ? like(l, 0, of) : out);
}

template <Text kOp>
void extreme(Lowering& l) {
  const DType of = of_result(l);
  Names all;
  if (l.at(0).is_list())
    for (const Symbol& item : l.at(0).items())
      all.push_back(l.tensor(item, of));
  else
    all = {l.tensor(0, of), l.tensor(1, of)};
  l.result(l.op(kOp.data, all));
}

constexpr Row kNumberRows[] = {
    {"add", arithmetic<"Add">},
    {"sub", arithmetic<"Sub">},
    {"mul", arithmetic<"Mul">},
    {"div", divide},
    {"floordiv", floordiv},
    {"remainder", remainder},
    {"pow", arithmetic<"Pow">},
    {"neg", negate},
    {"abs", function<"Abs">},
    {"floor", function<"Floor">},
    {"ceil", function<"Ceil">},
    {"round", function<"Round">},
    {"sqrt", function<"Sqrt">},
    {"exp", function<"Exp">},
    {"log", function<"Log">},
    {"sin", function<"Sin">},
    {"cos", function<"Cos">},
    {"eq", compare<"Equal">},
    {"ne", compare<"Equal", true>},
    {"lt", compare<"Less">},
    {"le", compare<"LessOrEqual">},
    {"gt", compare<"Greater">},
    {"ge", compare<"GreaterOrEqual">},
    {"__and__", logical<"And">},
    {"__or__", logical<"Or">},
    {"__xor__", logical<"Xor">},
    {"__not__", negated},
    {"min", extreme<"Min">},
    {"max", extreme<"Max">},
    {"sum", sum},
    {"Int", to_int},
    {"IntImplicit", to_int},
    {"Float", to_float},
    {"FloatImplicit", to_float},
    {"Bool", to_bool},
    {"item", item},
    {"ScalarImplicit", item},
    {"size", size},
    {"sym_size", size},
    {"len", length},
    {"numel", numel},
    {"nelement", numel},
    {"__range_length", range_length},
    {"__derive_index", derived_index},
};

}  // namespace

Rows number_rows() {
  return kNumberRows;
}

}  // namespace hotaru::exchange::onnx_out
