#include "hotaru/exchange/onnx_out/symbol.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

std::optional<int64_t> Example::size(int64_t dim) const {
  const int64_t a = first.size(dim);
  if (second.size(dim) != a) return std::nullopt;
  return a;
}

Symbol Symbol::tensor(std::shared_ptr<Cell> cell) {
  Symbol out;
  out.kind = Kind::kTensor;
  out.cell = std::move(cell);
  return out;
}

Symbol Symbol::of_number(std::string name, DType dtype, Value first,
                         Value second) {
  Symbol out;
  out.kind = Kind::kNumber;
  out.number = std::make_shared<Number>(
      Number{std::move(name), dtype, std::move(first), std::move(second)});
  return out;
}

Symbol Symbol::list_of(std::vector<Symbol> items, int depth) {
  Symbol out;
  out.kind = Kind::kList;
  out.list = std::make_shared<List>();
  out.list->items = std::move(items);
  out.list->depth = depth;
  return out;
}

Symbol Symbol::tuple_of(std::vector<Symbol> items) {
  Symbol out;
  out.kind = Kind::kTuple;
  out.tuple = std::make_shared<std::vector<Symbol>>(std::move(items));
  return out;
}

namespace {

std::optional<Value> known_items(const std::vector<Symbol>& items, bool list) {
  std::vector<Value> values;
  for (const Symbol& item : items) {
    std::optional<Value> value = item.known();
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  return list ? Value::list(std::move(values))
              : Value::tuple(std::move(values));
}

}  // namespace

std::optional<Value> Symbol::known() const {
  switch (kind) {
    case Kind::kHost:
      return host;
    case Kind::kList:
      if (is_sequence()) return std::nullopt;
      return known_items(items(), true);
    case Kind::kTuple:
      return known_items(items(), false);
    default:
      return std::nullopt;
  }
}

Value Symbol::in_world(int world) const {
  switch (kind) {
    case Kind::kHost:
      return host;
    case Kind::kTensor:
      return cell->example.at(world);
    case Kind::kNumber:
      return number->at(world);
    case Kind::kDict:
      fail<NotImplementedError>("an operator takes a dict");
    case Kind::kList:
    case Kind::kTuple:
      break;
  }
  std::vector<Value> values;
  if (is_sequence()) {
    values.assign(2, list->element.at(world));
    return Value::list(std::move(values));
  }
  for (const Symbol& item : items()) values.push_back(item.in_world(world));
  return is_list() ? Value::list(std::move(values))
                   : Value::tuple(std::move(values));
}

bool Symbol::varies() const {
  switch (kind) {
    case Kind::kHost:
      return false;
    case Kind::kTensor: {
      const Example& e = cell->example;
      return !e.first.is_same(e.second);
    }
    case Kind::kNumber:
      return !same_value(number->first, number->second);
    case Kind::kDict:
      return true;
    case Kind::kList:
    case Kind::kTuple:
      break;
  }
  if (is_sequence()) return !list->element.first.is_same(list->element.second);
  return std::any_of(items().begin(), items().end(),
                     [](const Symbol& item) { return item.varies(); });
}

bool same_value(const Value& a, const Value& b) {
  if (a.tag() != b.tag()) return false;
  if (a.is_double()) {
    return a.as_double() == b.as_double() ||
           (a.as_double() != a.as_double() && b.as_double() != b.as_double());
  }
  if (a.is_string()) return a.as_string() == b.as_string();
  if (a.is_complex()) return a.as_complex() == b.as_complex();
  if (a.is_list() || a.is_tuple()) {
    const auto& x = a.is_list() ? a.as_list().items : a.as_tuple().items;
    const auto& y = b.is_list() ? b.as_list().items : b.as_tuple().items;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_value);
  }
  return a.is(b);
}

DType number_dtype(const Value& value) {
  if (value.is_bool()) return DType::kBool;
  if (value.is_int()) return DType::kInt64;
  HOTARU_CHECK_AS(NotImplementedError, value.is_double(),
                  "ONNX has no numbers of type ", value.type_name());
  return DType::kFloat64;
}

Tensor meta_of(const Tensor& tensor) {
  TensorOptions options(tensor.dtype());
  options.device = Device{DeviceType::kMeta};
  return empty_strided(tensor.sizes(), tensor.strides(), options);
}

}  // namespace hotaru::exchange::onnx_out
