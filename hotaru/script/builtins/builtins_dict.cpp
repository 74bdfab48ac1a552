// Dicts.
#include "hotaru/core/checks/check.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru::script {

namespace {

DictObject& dict_of(const Value& value) {
  return value.as_dict();
}

Value copied(const Value& dict) {
  auto out = make_ref<DictObject>();
  for (const auto& [key, value] : dict_of(dict).items) out->set(key, value);
  return out;
}

const Value& found(const Value& dict, const Value& key) {
  const Value* value = dict_of(dict).find(key);
  HOTARU_CHECK(value, "KeyError: ", value_text(key));
  return *value;
}

Value pop(const Value& dict, const Value& key) {
  Value value = found(dict, key);
  dict_of(dict).erase(key);
  return value;
}

void add_reading(BuiltinTable& table) {
  table.add(
      "len.Dict(Dict(t, u) self) -> int",
      +[](const Value& dict) { return int64_t(dict_of(dict).items.size()); });
  table.add(
      "__getitem__.Dict(Dict(t, u) self, t key) -> u",
      +[](const Value& dict, const Value& key) {
        return Value(found(dict, key));
      });
  table.add(
      "__contains__.Dict(Dict(t, u) dict, t key) -> bool",
      +[](const Value& dict, const Value& key) {
        return dict_of(dict).find(key) != nullptr;
      });
  table.add(
      "get.Dict(Dict(t, u) self, t key) -> u?",
      +[](const Value& dict, const Value& key) {
        const Value* value = dict_of(dict).find(key);
        return value ? *value : Value();
      });
  table.add(
      "get.default_Dict(Dict(t, u) self, t key, u default_value) -> u",
      +[](const Value& dict, const Value& key, Value other) {
        const Value* value = dict_of(dict).find(key);
        return value ? *value : other;
      });
  table.add(
      "keys.Dict(Dict(t, u) self) -> t[]", +[](const Value& dict) {
        std::vector<Value> out;
        for (const auto& entry : dict_of(dict).items)
          out.push_back(entry.first);
        return Value::list(std::move(out));
      });
  table.add(
      "values.Dict(Dict(t, u) self) -> u[]", +[](const Value& dict) {
        std::vector<Value> out;
        for (const auto& entry : dict_of(dict).items)
          out.push_back(entry.second);
        return Value::list(std::move(out));
      });
  table.add(
      "items.Dict(Dict(t, u) self) -> Tuple(t, u)[]", +[](const Value& dict) {
        std::vector<Value> out;
        for (const auto& [key, value] : dict_of(dict).items) {
          out.push_back(Value::tuple({key, value}));
        }
        return Value::list(std::move(out));
      });
}

}  // namespace

void add_dict_builtins(BuiltinTable& table) {
  add_reading(table);
  table.add(
      "_set_item.Dict(Dict(t, u) l, t idx, u v) -> ()",
      +[](const Value& dict, Value key, Value value) {
        dict_of(dict).set(std::move(key), std::move(value));
      });
  table.add(
      "Delete.Dict(Dict(t, u) self, t key) -> ()",
      +[](const Value& dict, const Value& key) { pop(dict, key); });
  table.add("pop.Dict(Dict(t, u) self, t key) -> u", &pop);
  table.add(
      "pop.Dict_default(Dict(t, u) self, t key, u default_value) -> u",
      +[](const Value& dict, const Value& key, Value other) {
        return dict_of(dict).find(key) ? pop(dict, key) : other;
      });
  table.add(
      "popitem.Dict(Dict(t, u) self) -> (t, u)", +[](const Value& dict) {
        auto& items = dict_of(dict).items;
        HOTARU_CHECK(!items.empty(), "popitem(): dictionary is empty");
        Value key = items.back().first;
        Value value = pop(dict, key);
        return std::tuple(std::move(key), std::move(value));
      });
  table.add(
      "setdefault.Dict(Dict(t, u) self, t key, u default_value) -> u",
      +[](const Value& dict, Value key, Value other) {
        if (const Value* value = dict_of(dict).find(key)) {
          return *value;
        }
        dict_of(dict).set(std::move(key), other);
        return other;
      });
  table.add(
      "update.Dict(Dict(t, u) self, Dict(t, u) to_add) -> ()",
      +[](const Value& dict, const Value& more) {
        Value from = copied(more);
        for (const auto& [key, value] : dict_of(from).items) {
          dict_of(dict).set(key, value);
        }
      });
  table.add(
      "clear.Dict(Dict(t, u) self) -> ()", +[](const Value& dict) {
        while (!dict_of(dict).items.empty()) {
          dict_of(dict).erase(Value(dict_of(dict).items.back().first));
        }
      });
  table.add("copy.Dict(Dict(t, u) self) -> Dict(t, u)", &copied);
  table.add("dict.Dict(Dict(t, u) self) -> Dict(t, u)", &copied);
  table.add(
      "dict.pairs(Tuple(t, u)[] inputs) -> Dict(t, u)",
      +[](const Value& pairs) {
        auto out = make_ref<DictObject>();
        for (const Value& pair : pairs.as_list().items) {
          const auto& items = pair.as_tuple().items;
          HOTARU_CHECK(items.size() == 2, "dict() needs pairs");
          out->set(items[0], items[1]);
        }
        return Value(out);
      });
}

}  // namespace hotaru::script
