#include "hotaru/exchange/onnx_out/merger.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

namespace {

const char* kind_text(const Symbol& symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::kHost:
      return symbol.host.type_name();
    case Symbol::Kind::kTensor:
      return "a tensor";
    case Symbol::Kind::kNumber:
      return "a number";
    case Symbol::Kind::kList:
      return "a list";
    case Symbol::Kind::kTuple:
      return "a tuple";
    case Symbol::Kind::kDict:
      return "a dict";
  }
  return "";
}

bool is_numeric(const Symbol& symbol) {
  return symbol.is_number() || (symbol.is_host() && symbol.host.is_number() &&
                                !symbol.host.is_complex());
}

Value value_in(const Symbol& symbol, int world) {
  return symbol.is_number() ? symbol.number->at(world) : symbol.host;
}

DType dtype_of(const Symbol& symbol) {
  return symbol.is_number() ? symbol.number->dtype : number_dtype(symbol.host);
}

Example element_of(const Symbol& list) {
  if (!list.is_sequence() && !list.list->items.empty()) {
    Example out;
    for (const Symbol& item : list.list->items) {
      HOTARU_CHECK_AS(NotImplementedError, item.is_tensor(),
                      "a list of something else than tensors whose length "
                      "depends on inputs");
      const Example& e = item.cell->example;
      out = out.first.defined() ? joined(out, e) : e;
    }
    return out;
  }
  return list.list->element;
}

}  // namespace

io::onnx::ValueInfo declared(const std::string& name, DType dtype,
                             bool sequence) {
  io::onnx::ValueInfo out;
  out.name = name;
  out.kind = sequence ? io::onnx::ValueInfo::Kind::kSequence
                      : io::onnx::ValueInfo::Kind::kTensor;
  out.elem_type = int(io::onnx::data_type_of(dtype));
  return out;
}

void check_sequences(const Emitter& emitter, bool sequence) {
  // From here on Identity takes them.
  HOTARU_CHECK_AS(NotImplementedError, !sequence || emitter.opset() >= 14,
                  "a list whose length depends on inputs needs opset 14");
}

bool same_sizes(const Example& a, const Example& b) {
  return std::ranges::equal(a.first.sizes(), b.first.sizes()) &&
         std::ranges::equal(a.second.sizes(), b.second.sizes());
}

Example joined(const Example& a, const Example& b) {
  HOTARU_CHECK_AS(NotImplementedError, a.dtype() == b.dtype(),
                  "a value is of dtype ", dtype_name(a.dtype()),
                  " in one branch or round and ", dtype_name(b.dtype()),
                  " in another");
  HOTARU_CHECK_AS(NotImplementedError, a.dim() == b.dim(), "a value has ",
                  a.dim(), " dimensions in one branch or round and ", b.dim(),
                  " in another");
  if (same_sizes(a, b)) return a;
  Dims first, second;
  for (int64_t i = 0; i < a.dim(); ++i) {
    const int64_t a1 = a.first.size(i);
    const int64_t a2 = a.second.size(i);
    const int64_t b1 = b.first.size(i);
    const int64_t b2 = b.second.size(i);
    first.push_back(a1);
    second.push_back(a2 != a1 ? a2 : b1 != a1 ? b1 : b2);
  }
  const TensorOptions options(a.dtype(), Device{DeviceType::kMeta});
  return {empty(first, options), empty(second, options)};
}

std::string Merger::add(const Symbol& a, const Symbol& b, DType dtype,
                        bool sequence) {
  Emitter& emitter = exporter_.emitter();
  check_sequences(emitter, sequence);
  auto one = [&](io::onnx::Graph& graph, const Symbol& symbol) {
    emitter.begin(graph);
    const std::string name = emitter.add(
        "Identity",
        {exporter_.name_of(symbol,
                           sequence ? std::nullopt : std::optional(dtype))});
    emitter.end();
    graph.outputs.push_back(declared(name, dtype, sequence));
  };
  one(yes_, a);
  one(no_, b);
  outputs_.push_back(emitter.fresh("if_out"));
  return outputs_.back();
}

Symbol Merger::merge_numbers(const Symbol& a, const Symbol& b) {
  DType dtype = dtype_of(a);
  if (dtype != dtype_of(b)) dtype = DType::kFloat64;
  const Value first = value_in(a, 0);
  const Value other = value_in(b, 0);
  return Symbol::of_number(add(a, b, dtype, false), dtype, first,
                           same_value(first, other) ? value_in(a, 1) : other);
}

Symbol Merger::merge_lists(const Symbol& a, const Symbol& b) {
  if (!a.is_sequence() && !b.is_sequence() &&
      a.list->items.size() == b.list->items.size()) {
    std::vector<Symbol> items;
    for (size_t i = 0; i < a.list->items.size(); ++i)
      items.push_back(merge(a.list->items[i], b.list->items[i]));
    return Symbol::list_of(std::move(items), exporter_.emitter().depth());
  }
  const Example x = element_of(a);
  const Example y = element_of(b);
  Symbol out = Symbol::list_of({}, exporter_.emitter().depth());
  out.list->element = !x.first.defined()   ? y
                      : !y.first.defined() ? x
                                           : joined(x, y);
  HOTARU_CHECK_AS(NotImplementedError, out.list->element.first.defined(),
                  "a list of unknown length of what is not known");
  const DType dtype = out.list->element.dtype();
  Symbol left = a;
  Symbol right = b;
  for (Symbol* each : {&left, &right}) {
    each->list = std::make_shared<List>(*each->list);
    each->list->element = out.list->element;
  }
  out.list->sequence = add(left, right, dtype, true);
  return out;
}

Symbol Merger::merge(const Symbol& a, const Symbol& b) {
  if (a.is_host() && b.is_host() && same_value(a.host, b.host)) return a;
  if (a.is_tensor() && b.is_tensor()) {
    Example example = joined(a.cell->example, b.cell->example);
    const DType dtype = example.dtype();
    return exporter_.new_tensor(add(a, b, dtype, false), std::move(example));
  }
  if (is_numeric(a) && is_numeric(b)) return merge_numbers(a, b);
  if (a.is_list() && b.is_list()) return merge_lists(a, b);
  if (a.is_tuple() && b.is_tuple() && a.tuple->size() == b.tuple->size()) {
    std::vector<Symbol> items;
    for (size_t i = 0; i < a.tuple->size(); ++i)
      items.push_back(merge((*a.tuple)[i], (*b.tuple)[i]));
    return Symbol::tuple_of(std::move(items));
  }
  if (a.kind == Symbol::Kind::kDict && b.kind == Symbol::Kind::kDict &&
      a.dict->size() == b.dict->size()) {
    Symbol out;
    out.kind = Symbol::Kind::kDict;
    out.dict = std::make_shared<Dict>();
    for (size_t i = 0; i < a.dict->size(); ++i) {
      const auto& [key, value] = (*a.dict)[i];
      HOTARU_CHECK_AS(NotImplementedError, same_value(key, (*b.dict)[i].first),
                      "branches give dicts of different keys");
      out.dict->emplace_back(key, merge(value, (*b.dict)[i].second));
    }
    return out;
  }
  fail<NotImplementedError>(
      "a condition that depends on inputs decides whether a value is ",
      kind_text(a), " or ", kind_text(b));
}

}  // namespace hotaru::exchange::onnx_out
