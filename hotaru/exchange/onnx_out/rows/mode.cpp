// Dicts, modes, and what the graph has no part in.
#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/exchange/onnx_out/merger.h"
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

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

void dict_get(Lowering& l) {
  Dict* dict = dict_of(l);
  if (!dict) return;
  const Symbol* found = find(*dict, l.at(1));
  l.result(found ? *found : l.size() > 2 ? l.at(2) : Symbol());
}

template <bool kKeys, bool kValues>
void dict_parts(Lowering& l) {
  Dict* dict = dict_of(l);
  if (!dict) return;
  std::vector<Symbol> items;
  for (const auto& [key, value] : *dict) {
    items.push_back(kKeys && kValues ? Symbol::tuple_of({Symbol(key), value})
                    : kKeys          ? Symbol(key)
                                     : value);
  }
  l.result(Symbol::list_of(std::move(items), l.emitter().depth()));
}

void same(Lowering& l) {
  l.result(l.at(0));
}

template <bool kYes>
void answer(Lowering& l) {
  l.result(Symbol(Value(kYes)));
}

void ignored(Lowering& l) {
  l.result(Symbol());
}

void device(Lowering& l) {
  if (l.size() == 1 && l.at(0).is_tensor()) l.result(Symbol(Value(Device{})));
}

void is_on(Lowering& l) {
  if (l.at(0).is_tensor()) l.result(Symbol(Value(l.name() == "is_cpu")));
}

void text(Lowering& l) {
  if (!l.at(0).known()) l.result(Symbol(Value("...")));
}

constexpr Row kModeRows[] = {
    {"get", dict_get},
    {"keys", dict_parts<true, false>},
    {"values", dict_parts<false, true>},
    {"items", dict_parts<true, true>},
    {"_unwrap_optional", same},
    {"wait", same},
    {"device", device},
    {"is_cpu", is_on},
    {"is_cuda", is_on},
    {"str", text},
    {"format", text},
    {"is_grad_enabled", answer<false>},
    {"is_autocast_enabled", answer<false>},
    {"is_autocast_cpu_enabled", answer<false>},
    {"requires_grad", answer<false>},
    {"set_grad_enabled", ignored},
    {"_set_autocast", ignored},
    {"warn", ignored},
};

}  // namespace

Rows mode_rows() {
  return kModeRows;
}

}  // namespace hotaru::exchange::onnx_out
