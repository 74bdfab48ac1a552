// Lists, dicts and modes. A row that gives nothing leaves the call to others.
#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/exchange/onnx_out/merger.h"
#include "hotaru/exchange/onnx_out/rows/common.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::exchange::onnx_out {

namespace {

const std::shared_ptr<List>* list_of(const Lowering& l) {
  return l.size() > 0 && l.at(0).is_list() ? &l.at(0).list : nullptr;
}

Dict* dict_of(const Lowering& l) {
  return l.size() > 0 && l.at(0).kind == Symbol::Kind::kDict
             ? l.at(0).dict.get()
             : nullptr;
}

Symbol* find(Dict& dict, const Symbol& key) {
  for (auto& [known, value] : dict)
    if (key.is_host() && same_value(known, key.host)) return &value;
  return nullptr;
}

Symbol host_list(const Lowering& l, std::vector<Symbol> items) {
  return Symbol::list_of(std::move(items), l.emitter().depth());
}

size_t place(const Lowering& l, const List& list, int i) {
  if (!l.at(i).is_host()) l.refuse("a place that depends on inputs");
  int64_t at = l.at(i).host.as_int();
  const int64_t size = int64_t(list.items.size());
  if (at < 0) at += size;
  if (at < 0 || at >= size) l.refuse(script::kListIndex);
  return size_t(at);
}

Example element(const List& list) {
  Example out = list.element;
  for (const Symbol& item : list.items) {
    const Example& e = item.cell->example;
    out = out.first.defined() ? joined(out, e) : e;
  }
  return out;
}

void len(Lowering& l) {
  if (Dict* dict = dict_of(l)) return l.result(Symbol(int64_t(dict->size())));
  const auto* list = list_of(l);
  if (!list) return;
  if (l.at(0).is_sequence()) {
    const std::string n = l.op("SequenceLength", {(*list)->sequence});
    return l.result(Symbol::of_number(n, DType::kInt64, Value(int64_t{2}),
                                      Value(int64_t{3})));
  }
  l.result(Symbol(int64_t((*list)->items.size())));
}

void get_item(Lowering& l) {
  if (Dict* dict = dict_of(l)) {
    Symbol* found = find(*dict, l.at(1));
    if (!found) l.refuse("a key that the dict has not");
    return l.result(*found);
  }
  const auto* list = list_of(l);
  if (!list) return;
  const List& items = **list;
  if (!l.at(0).is_sequence()) {
    if (l.at(1).is_host()) return l.result(items.items[place(l, items, 1)]);
    // By a number that depends on inputs.
    auto numeric = [](const Symbol& s) {
      return s.is_number() || (s.is_host() && s.host.is_int());
    };
    if (std::all_of(items.items.begin(), items.items.end(), numeric) &&
        !items.items.empty()) {
      const std::string all = l.shape(items.items);
      const std::string one = l.op("Gather", {all, l.tensor(1)});
      const Symbol& first = items.items[0];
      const Value a = first.is_host() ? first.host : first.number->first;
      const Symbol& last = items.items.back();
      const Value b = last.is_host() ? last.host : last.number->second;
      return l.result(Symbol::of_number(one, DType::kInt64, a, b));
    }
    for (const Symbol& item : items.items)
      if (!item.is_tensor()) l.refuse("a place that depends on inputs");
  }
  const std::string sequence = l.tensor(l.at(0));
  l.result(l.exporter().new_tensor(
      l.op("SequenceAt", {sequence, l.tensor(1, DType::kInt64)}),
      element(items)));
}

void append(Lowering& l) {
  const auto* list = list_of(l);
  if (!list) return;
  l.exporter().touch(*list);
  List& items = **list;
  if (l.at(0).is_sequence()) {
    if (!l.at(1).is_tensor()) l.refuse("what is no tensor, to a sequence");
    const Example& e = l.at(1).cell->example;
    items.sequence = l.op("SequenceInsert", {items.sequence, l.tensor(1)});
    items.element =
        items.element.first.defined() ? joined(items.element, e) : e;
  } else {
    items.items.push_back(l.at(1));
  }
  l.result(l.at(0));
}

void extend(Lowering& l) {
  const auto* list = list_of(l);
  if (!list || !l.at(1).is_list()) return;
  if (l.at(0).is_sequence() || l.at(1).is_sequence())
    l.refuse("a list whose length depends on inputs");
  l.exporter().touch(*list);
  const std::vector<Symbol> more = l.at(1).items();
  (*list)->items.insert((*list)->items.end(), more.begin(), more.end());
  l.result(l.at(0));
}

void insert(Lowering& l) {
  const auto* list = list_of(l);
  if (!list) return;
  if (!l.at(1).is_host()) l.refuse("a place that depends on inputs");
  l.exporter().touch(*list);
  List& items = **list;
  const int64_t at = l.at(1).host.as_int();
  if (l.at(0).is_sequence()) {
    items.sequence = l.op(
        "SequenceInsert",
        {items.sequence, l.tensor(2), l.number(Scalar(at), DType::kInt64)});
    return l.result(Symbol());
  }
  const int64_t size = int64_t(items.items.size());
  const int64_t where = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  items.items.insert(items.items.begin() + where, l.at(2));
  l.result(Symbol());
}

void pop(Lowering& l) {
  if (Dict* dict = dict_of(l)) {
    Symbol* found = find(*dict, l.at(1));
    if (!found) l.refuse("a key that the dict has not");
    const Symbol value = *found;
    std::erase_if(*dict, [&](const auto& each) {
      return same_value(each.first, l.at(1).host);
    });
    return l.result(value);
  }
  const auto* list = list_of(l);
  if (!list) return;
  l.exporter().touch(*list);
  List& items = **list;
  if (l.at(0).is_sequence()) {
    const std::string at = l.tensor(1, DType::kInt64);
    const std::string one = l.op("SequenceAt", {items.sequence, at});
    items.sequence = l.op("SequenceErase", {items.sequence, at});
    return l.result(l.exporter().new_tensor(one, items.element));
  }
  const size_t at = place(l, items, 1);
  const Symbol value = items.items[at];
  items.items.erase(items.items.begin() + std::ptrdiff_t(at));
  l.result(value);
}

void set_item(Lowering& l) {
  if (Dict* dict = dict_of(l)) {
    if (!l.at(1).is_host()) l.refuse("a key that depends on inputs");
    if (l.emitter().depth() > 0) l.refuse("a dict that a branch changes");
    if (Symbol* found = find(*dict, l.at(1)))
      *found = l.at(2);
    else
      dict->emplace_back(l.at(1).host, l.at(2));
    return l.result(l.at(0));
  }
  const auto* list = list_of(l);
  if (!list) return;
  l.exporter().touch(*list);
  List& items = **list;
  if (l.at(0).is_sequence()) {
    const std::string at = l.tensor(1, DType::kInt64);
    const std::string rest = l.op("SequenceErase", {items.sequence, at});
    items.sequence = l.op("SequenceInsert", {rest, l.tensor(2), at});
    items.element = joined(items.element, l.at(2).cell->example);
  } else {
    items.items[place(l, items, 1)] = l.at(2);
  }
  l.result(l.at(0));
}

void clear(Lowering& l) {
  const auto* list = list_of(l);
  if (!list) return;
  l.exporter().touch(*list);
  (*list)->items.clear();
  if (!(*list)->sequence.empty()) {
    (*list)->sequence =
        l.op("SequenceEmpty", {},
             {attr("dtype", io::onnx::data_type_of((*list)->element.dtype()))});
  }
  l.result(l.at(0));
}

void reverse(Lowering& l) {
  const auto* list = list_of(l);
  if (!list || l.at(0).is_sequence()) return;
  l.exporter().touch(*list);
  std::reverse((*list)->items.begin(), (*list)->items.end());
  l.result(l.at(0));
}

void copied(Lowering& l) {
  if (Dict* dict = dict_of(l)) {
    Symbol out = l.at(0);
    out.dict = std::make_shared<Dict>(*dict);
    return l.result(out);
  }
  const auto* list = list_of(l);
  if (!list) return;
  Symbol out = host_list(l, (*list)->items);
  out.list->sequence = (*list)->sequence;
  out.list->element = (*list)->element;
  l.result(out);
}

void joined_lists(Lowering& l) {
  if (!list_of(l) || l.size() < 2 || !l.at(1).is_list()) return;
  if (l.at(0).is_sequence() || l.at(1).is_sequence()) {
    // One after the other, as a sequence of both.
    if (l.at(1).is_sequence()) l.refuse("a list of unknown length at the end");
    Symbol out = host_list(l, {});
    out.list->element = l.at(0).list->element;
    out.list->sequence = l.at(0).list->sequence;
    for (const Symbol& item : l.at(1).items()) {
      out.list->sequence =
          l.op("SequenceInsert", {out.list->sequence, l.tensor(item)});
      out.list->element = joined(out.list->element, item.cell->example);
    }
    return l.result(out);
  }
  std::vector<Symbol> items = l.at(0).items();
  const std::vector<Symbol>& more = l.at(1).items();
  items.insert(items.end(), more.begin(), more.end());
  l.result(host_list(l, std::move(items)));
}

void repeated(Lowering& l) {
  if (!list_of(l) || l.at(0).is_sequence() || !l.at(1).is_host()) return;
  std::vector<Symbol> items;
  for (int64_t i = 0; i < l.at(1).host.as_int(); ++i) {
    const std::vector<Symbol>& once = l.at(0).items();
    items.insert(items.end(), once.begin(), once.end());
  }
  l.result(host_list(l, std::move(items)));
}

void sliced(Lowering& l) {
  const auto* list = list_of(l);
  if (!list || l.at(0).is_sequence()) return;
  const int64_t size = int64_t((*list)->items.size());
  const int64_t step = l.integer("step");
  if (step < 1) return;
  auto bound = [&](const char* name, int64_t otherwise) {
    if (!l.given(name)) return otherwise;
    int64_t at = l.integer(name);
    if (at < 0) at += size;
    return std::clamp<int64_t>(at, 0, size);
  };
  std::vector<Symbol> items;
  for (int64_t i = bound("start", 0); i < bound("end", size); i += step)
    items.push_back((*list)->items[size_t(i)]);
  l.result(host_list(l, std::move(items)));
}

void contains(Lowering& l) {
  if (Dict* dict = dict_of(l))
    return l.result(Symbol(Value(find(*dict, l.at(1)) != nullptr)));
}

constexpr Row kHostRows[] = {
    {"len", len},         {"__getitem__", get_item},  {"append", append},
    {"extend", extend},   {"add_.t", extend},         {"insert", insert},
    {"pop", pop},         {"_set_item", set_item},    {"clear", clear},
    {"reverse", reverse}, {"copy", copied},           {"list", copied},
    {"dict", copied},     {"add.t", joined_lists},    {"mul.left_t", repeated},
    {"slice.t", sliced},  {"__contains__", contains},
};

}  // namespace

Rows host_rows() {
  return kHostRows;
}

}  // namespace hotaru::exchange::onnx_out
