#include "hotaru/exchange/onnx_out/lowering.h"

#include <algorithm>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

Lowering::Lowering(Exporter& exporter, const Operator& op,
                   std::vector<Symbol> inputs)
    : exporter_(exporter), op_(op), inputs_(std::move(inputs)) {}

Emitter& Lowering::emitter() const {
  return exporter_.emitter();
}

void Lowering::refuse(const std::string& why) const {
  fail<NotImplementedError>(qualified_name(op_), ": ", why);
}

Lowering Lowering::lined() const {
  auto line = [](const Example& point) -> Example {
    if (point.dim() > 0) return point;
    const TensorOptions options(point.dtype(), Device{DeviceType::kMeta});
    return {empty(Dims{1}, options), empty(Dims{1}, options)};
  };
  Lowering out(exporter_, op_, inputs_);
  for (Symbol& input : out.inputs_) {
    if (!input.is_tensor() || input.cell->example.dim() > 0) continue;
    input = exporter_.new_tensor(unsqueeze(tensor(input), {0}),
                                 line(input.cell->example));
  }
  for (const Example& each : outs_) out.outs_.push_back(line(each));
  return out;
}

size_t Lowering::index(const char* argument) const {
  const int i = op_.schema().find(argument);
  if (i < 0 || size_t(i) >= inputs_.size())
    refuse(concat("has no argument '", argument, "'"));
  return size_t(i);
}

bool Lowering::has(const char* argument) const {
  return op_.schema().find(argument) >= 0;
}

bool Lowering::given(const char* argument) const {
  return has(argument) && !at(argument).is_none();
}

const Symbol& Lowering::at(const char* argument) const {
  return inputs_[index(argument)];
}

bool Lowering::is_known(const char* argument) const {
  return at(argument).known().has_value();
}

Value Lowering::known(const char* argument) const {
  std::optional<Value> value = at(argument).known();
  if (!value) {
    refuse(concat("'", argument,
                  "' depends on inputs, and in ONNX it is part of the graph"));
  }
  return *value;
}

int64_t Lowering::integer(const char* argument) const {
  const Value value = known(argument);
  return value.is_bool() ? int64_t(value.as_bool()) : value.as_int();
}

double Lowering::real(const char* argument) const {
  return known(argument).to_double();
}

bool Lowering::flag(const char* argument) const {
  const Value value = known(argument);
  return value.is_int() ? value.as_int() != 0 : value.as_bool();
}

std::string Lowering::text(const char* argument) const {
  return known(argument).as_string();
}

Scalar Lowering::scalar(const char* argument) const {
  return known(argument).as_scalar();
}

Ints Lowering::integers(const char* argument) const {
  const Value value = known(argument);
  if (value.is_none()) return {};
  if (value.is_int()) return {value.as_int()};
  Ints out;
  const auto& items =
      value.is_tuple() ? value.as_tuple().items : value.as_list().items;
  for (const Value& item : items) out.push_back(item.as_int());
  return out;
}

Ints Lowering::integers(const char* argument, size_t n) const {
  Ints out = integers(argument);
  if (out.size() == 1) out.resize(n, out[0]);
  return out;
}

std::vector<double> Lowering::reals(const char* argument) const {
  const Value value = known(argument);
  std::vector<double> out;
  if (value.is_none()) return out;
  for (const Value& item : value.as_list().items)
    out.push_back(item.to_double());
  return out;
}

std::string Lowering::tensor(const Symbol& symbol, DType dtype) const {
  return exporter_.name_of(symbol, dtype);
}
std::string Lowering::tensor(const char* argument, DType dtype) const {
  return tensor(at(argument), dtype);
}
std::string Lowering::tensor(int i, DType dtype) const {
  return tensor(at(i), dtype);
}
std::string Lowering::tensor(const char* argument) const {
  return tensor(at(argument));
}
std::string Lowering::tensor(int i) const {
  return tensor(at(i));
}
std::string Lowering::tensor(const Symbol& symbol) const {
  return exporter_.name_of(symbol, std::nullopt);
}

Names Lowering::tensors(const char* argument, DType dtype) const {
  const Symbol& list = at(argument);
  if (!(list.is_list() || list.is_tuple()) || list.is_sequence())
    refuse(concat("'", argument, "' is no list of known length"));
  Names out;
  for (const Symbol& item : list.items()) out.push_back(tensor(item, dtype));
  return out;
}

std::string Lowering::one(const Symbol& number) const {
  if (number.is_host()) return ints({number.host.as_int()});
  return reshape(tensor(number, DType::kInt64), {1});
}

std::string Lowering::shape(const std::vector<Symbol>& items) const {
  if (items.empty()) return ints({});
  Names parts;
  Ints known;
  auto flush = [&] {
    if (!known.empty()) parts.push_back(ints(known));
    known.clear();
  };
  for (const Symbol& item : items) {
    if (item.is_host()) {
      known.push_back(item.host.as_int());
      continue;
    }
    flush();
    parts.push_back(one(item));
  }
  flush();
  return parts.size() == 1 ? parts[0] : op("Concat", parts, {attr("axis", 0)});
}

std::string Lowering::shape(const char* argument) const {
  const Symbol& symbol = at(argument);
  if (symbol.is_list() || symbol.is_tuple()) return shape(symbol.items());
  return one(symbol);
}

const Example& Lowering::example(int i) const {
  if (!at(i).is_tensor()) refuse(concat("argument ", i, " is no tensor"));
  return at(i).cell->example;
}

const Example& Lowering::example(const char* argument) const {
  return example(int(index(argument)));
}

const Example& Lowering::out(size_t i) const {
  if (i >= outs_.size() || !outs_[i].first.defined())
    refuse("the shape of its result is not known");
  return outs_[i];
}

std::string Lowering::op(const char* op, Names inputs,
                         std::vector<Attribute> attributes) const {
  return emitter().add(op, std::move(inputs), std::move(attributes));
}

Names Lowering::many(const char* op, Names inputs, size_t outputs,
                     std::vector<Attribute> attributes) const {
  return emitter().add_many(op, std::move(inputs), outputs,
                            std::move(attributes));
}

std::string Lowering::cast(const std::string& value, DType from,
                           DType to) const {
  if (from == to) return value;
  return op("Cast", {value}, {attr("to", io::onnx::data_type_of(to))});
}

std::string Lowering::reshape(const std::string& value,
                              const Ints& sizes) const {
  // A zero would stand for the size that the value has there.
  std::vector<Attribute> attributes;
  if (opset() >= 14 && std::ranges::count(sizes, 0) > 0 &&
      std::ranges::count(sizes, -1) == 0)
    attributes.push_back(attr("allowzero", 1));
  return op("Reshape", {value, ints(sizes)}, std::move(attributes));
}

std::string Lowering::unsqueeze(const std::string& value,
                                const Ints& dims) const {
  return op("Unsqueeze", {value, ints(dims)});
}

std::string Lowering::squeeze(const std::string& value,
                              const Ints& dims) const {
  return op("Squeeze", {value, ints(dims)});
}

std::string Lowering::transpose(const std::string& value,
                                const Ints& order) const {
  return op("Transpose", {value}, {attr("perm", order)});
}

std::string Lowering::shape_of(const std::string& value) const {
  return op("Shape", {value});
}

std::string Lowering::sizes_of(const std::string& value, int64_t begin,
                               int64_t end) const {
  if (opset() >= 15)
    return op("Shape", {value}, {attr("start", begin), attr("end", end)});
  return slice(shape_of(value), 0, begin, end);
}

std::string Lowering::reduce(const char* op, const std::string& value,
                             const Ints& axes, bool keep, int64_t since) const {
  std::vector<Attribute> attributes = {attr("keepdims", int64_t{keep})};
  if (axes.empty()) return this->op(op, {value}, std::move(attributes));
  if (opset() >= since)
    return this->op(op, {value, ints(axes)}, std::move(attributes));
  attributes.push_back(attr("axes", axes));
  return this->op(op, {value}, std::move(attributes));
}

std::string Lowering::slice(const std::string& value, int64_t dim,
                            int64_t begin, int64_t end) const {
  return op("Slice", {value, ints({begin}), ints({end}), ints({dim})});
}

int64_t Lowering::wrap(int64_t dim, int64_t rank) const {
  return dim < 0 ? dim + (rank == 0 ? 1 : rank) : dim;
}

}  // namespace hotaru::exchange::onnx_out
