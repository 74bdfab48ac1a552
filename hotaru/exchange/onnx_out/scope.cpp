// Tensors and lists that change, and subgraphs that change them.
#include <algorithm>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

void Exporter::name_tensor(const Tensor& tensor, const std::string& name) {
  std::shared_ptr<Cell>& cell = by_tensor_[tensor.impl()];
  if (cell) return;  // tied: the first name counts
  kept_.push_back(tensor);
  const Tensor meta = meta_of(tensor);
  cell = std::make_shared<Cell>();
  cell->name = emitter_.initializer(name, tensor);
  cell->example = {meta, meta};
}

Symbol Exporter::symbol_of(const Value& value) {
  auto all = [&](const std::vector<Value>& items) {
    std::vector<Symbol> out;
    for (const Value& item : items) out.push_back(symbol_of(item));
    return out;
  };
  if (value.is_tensor()) {
    const Tensor tensor = value.as_tensor();
    std::shared_ptr<Cell>& cell = by_tensor_[tensor.impl()];
    if (!cell) {
      kept_.push_back(tensor);
      const Tensor meta = meta_of(tensor);
      cell = std::make_shared<Cell>();
      cell->example = {meta, meta};
      cell->constant = tensor;
    }
    return Symbol::tensor(cell);
  }
  if (value.is_list())
    return Symbol::list_of(all(value.as_list().items), emitter_.depth());
  if (value.is_tuple()) return Symbol::tuple_of(all(value.as_tuple().items));
  if (value.is_dict()) {
    Symbol out;
    out.kind = Symbol::Kind::kDict;
    out.dict = std::make_shared<Dict>();
    for (const auto& [key, item] : value.as_dict().items)
      out.dict->emplace_back(key, symbol_of(item));
    return out;
  }
  return value;
}

Symbol Exporter::new_tensor(std::string name, Example example) {
  auto cell = std::make_shared<Cell>();
  cell->name = std::move(name);
  cell->example = std::move(example);
  cell->depth = emitter_.depth();
  return Symbol::tensor(std::move(cell));
}

std::string Exporter::read(Cell& cell) {
  if (cell.base) {
    const std::string base = read(*cell.base);
    if (cell.base_version != cell.base->version) {
      const std::string name = cell.view(base);
      // In an inner graph the name would be unknown outside of it.
      if (cell.depth == emitter_.depth()) {
        cell.name = name;
        cell.base_version = cell.base->version;
      }
      return name;
    }
  }
  if (cell.name.empty()) {
    HOTARU_CHECK(cell.constant.defined(),
                 "internal error: a tensor without a "
                 "value in the graph");
    cell.name = emitter_.constant(cell.constant);
  }
  return cell.name;
}

std::string Exporter::name_of(const Symbol& symbol,
                              std::optional<DType> dtype) {
  switch (symbol.kind) {
    case Symbol::Kind::kTensor: {
      std::string name = read(*symbol.cell);
      const DType from = symbol.cell->example.dtype();
      if (!dtype || *dtype == from) return name;
      return emitter_.add("Cast", {name},
                          {attr("to", io::onnx::data_type_of(*dtype))});
    }
    case Symbol::Kind::kNumber: {
      const DType from = symbol.number->dtype;
      if (!dtype || *dtype == from) return symbol.number->name;
      return emitter_.add("Cast", {symbol.number->name},
                          {attr("to", io::onnx::data_type_of(*dtype))});
    }
    case Symbol::Kind::kHost:
      if (symbol.host.is_number()) {
        return emitter_.scalar(symbol.host.as_scalar(),
                               dtype ? *dtype : number_dtype(symbol.host));
      }
      fail<NotImplementedError>("a value of type ", symbol.host.type_name(),
                                " has no form in an ONNX graph");
    case Symbol::Kind::kList: {
      const List& list = *symbol.list;
      if (!list.sequence.empty()) return list.sequence;
      if (list.items.empty()) {
        const DType of = list.element.first.defined()
                             ? list.element.dtype()
                             : dtype.value_or(DType::kFloat32);
        return emitter_.add("SequenceEmpty", {},
                            {attr("dtype", io::onnx::data_type_of(of))});
      }
      Names names;
      for (const Symbol& item : list.items)
        names.push_back(name_of(item, dtype));
      return emitter_.add("SequenceConstruct", names);
    }
    default:
      fail<NotImplementedError>(
          "a tuple or dict within the program has no "
          "form in an ONNX graph");
  }
}

void Exporter::touch(const std::shared_ptr<Cell>& cell) {
  for (size_t i = size_t(cell->depth); i < scopes_.size(); ++i)
    scopes_[i].cells.try_emplace(cell, *cell);
}

void Exporter::touch(const std::shared_ptr<List>& list) {
  for (size_t i = size_t(list->depth); i < scopes_.size(); ++i)
    scopes_[i].lists.try_emplace(list, *list);
}

// The caller has touched the cell.
void Exporter::write(Cell& cell, const std::string& name) {
  cell.name = name;
  cell.constant = {};
  ++cell.version;
  if (!cell.base) return;
  HOTARU_CHECK_AS(NotImplementedError, cell.put,
                  "writes to a view that repeats elements");
  const std::string base = cell.put(read(*cell.base), name);
  touch(cell.base);
  write(*cell.base, base);
  cell.base_version = cell.base->version;
}

Exporter::Branch Exporter::in_subgraph(const std::string& name,
                                       const std::function<Exit()>& body) {
  Branch out;
  scopes_.emplace_back();
  out.graph = emitter_.begin(name);
  try {
    out.exit = body();
    for (Symbol& value : out.exit.values) value = pinned(value);
    for (const auto& [cell, before] : scopes_.back().cells) {
      if (!cell->base) read(*cell);
      out.after.cells.emplace(cell, *cell);
    }
    for (const auto& [list, before] : scopes_.back().lists) {
      List after = *list;
      for (Symbol& item : after.items) item = pinned(item);
      out.after.lists.emplace(list, std::move(after));
    }
  } catch (...) {
    emitter_.end();
    const Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    restore(scope);
    throw;
  }
  emitter_.end();
  const Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  restore(scope);
  return out;
}

void Exporter::restore(const Scope& scope) {
  for (const auto& [cell, before] : scope.cells) *cell = before;
  for (const auto& [list, before] : scope.lists) *list = before;
}

// The same values under names of their own, which later writes leave alone.
Symbol Exporter::pinned(const Symbol& symbol) {
  if (symbol.is_tensor()) {
    const Cell& cell = *symbol.cell;
    if (cell.name.empty() && cell.constant.defined()) return symbol;
    return new_tensor(read(*symbol.cell), cell.example);
  }
  if (symbol.is_tuple() || (symbol.is_list() && !symbol.is_sequence())) {
    std::vector<Symbol> items;
    for (const Symbol& item : symbol.items()) items.push_back(pinned(item));
    if (symbol.is_tuple()) return Symbol::tuple_of(std::move(items));
    Symbol out = Symbol::list_of(std::move(items), emitter_.depth());
    out.list->element = symbol.list->element;
    return out;
  }
  if (symbol.is_list()) {
    Symbol out = symbol;
    out.list = std::make_shared<List>(*symbol.list);
    return out;
  }
  return symbol;
}

}  // namespace hotaru::exchange::onnx_out
