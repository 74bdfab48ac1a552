#include "hotaru/exchange/onnx_out/carried.h"

#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/onnx_out/merger.h"

namespace hotaru::exchange::onnx_out {

namespace {

bool is_numeric(const Symbol& symbol) {
  return symbol.is_number() || (symbol.is_host() && symbol.host.is_number() &&
                                !symbol.host.is_complex());
}

}  // namespace

Carried::Carried(Symbol initial) : initial_(std::move(initial)) {
  switch (initial_.kind) {
    case Symbol::Kind::kHost:
      break;
    case Symbol::Kind::kTensor:
      kind_ = Kind::kTensor;
      example_ = initial_.cell->example;
      break;
    case Symbol::Kind::kNumber:
      kind_ = Kind::kNumber;
      number_ = initial_.number->dtype;
      first_ = initial_.number->first;
      second_ = initial_.number->second;
      break;
    case Symbol::Kind::kList:
    case Symbol::Kind::kTuple:
      if (initial_.is_sequence()) {
        kind_ = Kind::kSequence;
        example_ = initial_.list->element;
        break;
      }
      kind_ = initial_.is_list() ? Kind::kList : Kind::kTuple;
      for (const Symbol& item : initial_.items()) items_.emplace_back(item);
      break;
    case Symbol::Kind::kDict:
      fail<NotImplementedError>("a loop that carries a dict");
  }
}

DType Carried::dtype() const {
  if (kind_ == Kind::kNumber) return number_;
  HOTARU_CHECK_AS(NotImplementedError, example_.first.defined(),
                  "a loop carries a list of what is not known");
  return example_.dtype();
}

// The variable under a name of the graph.
Symbol Carried::named(Exporter& exporter, const std::string& name) const {
  if (kind_ == Kind::kTensor) return exporter.new_tensor(name, example_);
  if (kind_ == Kind::kNumber)
    return Symbol::of_number(name, number_, first_, second_);
  Symbol out = Symbol::list_of({}, exporter.emitter().depth());
  out.list->sequence = name;
  out.list->element = example_;
  return out;
}

Symbol Carried::enter(Exporter& exporter, Names& params) const {
  if (kind_ == Kind::kConstant) return initial_;
  if (kind_ == Kind::kList || kind_ == Kind::kTuple) {
    std::vector<Symbol> items;
    for (const Carried& item : items_)
      items.push_back(item.enter(exporter, params));
    return kind_ == Kind::kTuple
               ? Symbol::tuple_of(std::move(items))
               : Symbol::list_of(std::move(items), exporter.emitter().depth());
  }
  params.push_back(exporter.emitter().fresh("carried"));
  return named(exporter, params.back());
}

bool Carried::to_sequence(const Symbol& result) {
  auto add = [&](const Symbol& list) {
    if (list.is_sequence()) {
      const Example& e = list.list->element;
      example_ = example_.first.defined() ? joined(example_, e) : e;
      return;
    }
    for (const Symbol& item : list.items()) {
      HOTARU_CHECK_AS(NotImplementedError, item.is_tensor(),
                      "a list that a loop changes holds something else than "
                      "tensors");
      const Example& e = item.cell->example;
      example_ = example_.first.defined() ? joined(example_, e) : e;
    }
  };
  kind_ = Kind::kSequence;
  items_.clear();
  add(initial_);
  add(result);
  return true;
}

bool Carried::widen(const Symbol& result) {
  switch (kind_) {
    case Kind::kConstant:
      if (result.is_host() && (same_value(initial_.host, result.host) ||
                               initial_.host.is(result.host)))
        return false;
      HOTARU_CHECK_AS(
          NotImplementedError, is_numeric(initial_) && is_numeric(result),
          "a loop carries a variable that is ", initial_.host.type_name(),
          " before it and something else after a round");
      kind_ = Kind::kNumber;
      number_ = number_dtype(initial_.host);
      first_ = initial_.host;
      second_ = result.is_number() ? result.number->first : result.host;
      if (same_value(first_, second_) && result.is_number())
        second_ = result.number->second;
      return true;
    case Kind::kTensor: {
      HOTARU_CHECK_AS(NotImplementedError, result.is_tensor(),
                      "a loop carries a variable that is a tensor before it "
                      "and something else after a round");
      Example wider = joined(example_, result.cell->example);
      const bool changed = !same_sizes(wider, example_);
      if (changed) example_ = std::move(wider);
      return changed;
    }
    case Kind::kNumber:
      HOTARU_CHECK_AS(NotImplementedError, is_numeric(result),
                      "a loop carries a variable that is a number before it "
                      "and something else after a round");
      return false;
    case Kind::kSequence: {
      HOTARU_CHECK_AS(NotImplementedError, result.is_list(),
                      "a loop carries a list that becomes something else");
      const Example before = example_;
      to_sequence(result);
      return before.first.defined() != example_.first.defined() ||
             (before.first.defined() && !same_sizes(before, example_));
    }
    case Kind::kList:
    case Kind::kTuple:
      break;
  }
  const bool list = kind_ == Kind::kList;
  HOTARU_CHECK_AS(
      NotImplementedError,
      list ? result.is_list()
           : result.is_tuple() && result.items().size() == items_.size(),
      "a loop carries a list or tuple that becomes something "
      "else");
  if (list && (result.is_sequence() || result.items().size() != items_.size()))
    return to_sequence(result);
  bool wider = false;
  for (size_t i = 0; i < items_.size(); ++i)
    wider = items_[i].widen(result.items()[i]) || wider;
  return wider;
}

void Carried::output(Exporter& exporter, const Symbol& result,
                     io::onnx::Graph& body) const {
  if (kind_ == Kind::kConstant) return;
  if (kind_ == Kind::kList || kind_ == Kind::kTuple) {
    for (size_t i = 0; i < items_.size(); ++i)
      items_[i].output(exporter, result.items()[i], body);
    return;
  }
  const bool sequence = kind_ == Kind::kSequence;
  check_sequences(exporter.emitter(), sequence);
  const std::optional<DType> to =
      sequence ? std::nullopt : std::optional(dtype());
  const std::string name =
      exporter.emitter().add("Identity", {exporter.name_of(result, to)});
  body.outputs.push_back(declared(name, dtype(), sequence));
}

void Carried::declare(const Names& params, size_t& next,
                      io::onnx::Graph& body) const {
  if (kind_ == Kind::kConstant) return;
  if (kind_ == Kind::kList || kind_ == Kind::kTuple) {
    for (const Carried& item : items_) item.declare(params, next, body);
    return;
  }
  body.inputs.push_back(
      declared(params[next++], dtype(), kind_ == Kind::kSequence));
}

void Carried::start(Exporter& exporter, Names& inputs) const {
  if (kind_ == Kind::kConstant) return;
  if (kind_ == Kind::kList || kind_ == Kind::kTuple) {
    for (const Carried& item : items_) item.start(exporter, inputs);
    return;
  }
  if (kind_ == Kind::kSequence) {
    Symbol list = initial_;
    list.list = std::make_shared<List>(*initial_.list);
    list.list->element = example_;
    inputs.push_back(exporter.name_of(list, std::nullopt));
    return;
  }
  inputs.push_back(exporter.name_of(initial_, dtype()));
}

Symbol Carried::leave(Exporter& exporter, Names& outputs) const {
  if (kind_ == Kind::kConstant) return initial_;
  if (kind_ == Kind::kList || kind_ == Kind::kTuple) {
    std::vector<Symbol> items;
    for (const Carried& item : items_)
      items.push_back(item.leave(exporter, outputs));
    return kind_ == Kind::kTuple
               ? Symbol::tuple_of(std::move(items))
               : Symbol::list_of(std::move(items), exporter.emitter().depth());
  }
  outputs.push_back(exporter.emitter().fresh("loop_out"));
  return named(exporter, outputs.back());
}

}  // namespace hotaru::exchange::onnx_out
