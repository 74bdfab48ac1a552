#include "hotaru/script/builtins/builtins.h"

#include <utility>

namespace hotaru::script {

void BuiltinTable::add(std::string schema, GenericFunction function,
                       Invoke invoke) {
  const std::string& text = schemas_.emplace_back(std::move(schema));
  const Operator& op = operators_.emplace_back(text.c_str(), function, invoke);
  by_name_[op.name()].push_back(&op);
}

const std::vector<const Operator*>& BuiltinTable::find(
    std::string_view name) const {
  static const std::vector<const Operator*> none;
  auto found = by_name_.find(name);
  return found == by_name_.end() ? none : found->second;
}

const std::vector<const Operator*>& find_builtins(std::string_view name) {
  static const BuiltinTable* const table = [] {
    auto* out = new BuiltinTable;  // in use until the last thread has ended
    add_number_builtins(*out);
    add_math_builtins(*out);
    add_string_builtins(*out);
    add_list_builtins(*out);
    add_dict_builtins(*out);
    add_tensor_builtins(*out);
    add_make_builtins(*out);
    add_window_builtins(*out);
    add_sparse_builtins(*out);
    add_convert_builtins(*out);
    add_profile_builtins(*out);
    return out;
  }();
  return table->find(name);
}

}  // namespace hotaru::script
