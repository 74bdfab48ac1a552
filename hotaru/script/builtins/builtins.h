// Operators of the language itself: on numbers, strings, lists and dicts.
// They stand beside the registry's tensor operators, which Python calls by
// name as well; these are TorchScript's alone.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hotaru/ops/registry.h"

namespace hotaru::script {

/// The overloads of that name in the order they are tried; may be empty.
const std::vector<const Operator*>& find_builtins(std::string_view name);

/// The places that a slice of `size` elements takes, as Python counts them, in
/// order. ValueError for a step of zero.
std::vector<size_t> slice_places(size_t size, Optional<int64_t> begin,
                                 Optional<int64_t> end, int64_t step);

/// Owns the operators; each family adds its own.
class BuiltinTable {
 public:
  template <class R, class... A>
  void add(std::string schema, R (*function)(A...)) {
    add(std::move(schema), generic(function), &invoke<R, A...>);
  }
  const std::vector<const Operator*>& find(std::string_view name) const;

 private:
  void add(std::string schema, GenericFunction function, Invoke invoke);

  std::deque<std::string> schemas_;
  std::deque<Operator> operators_;
  std::unordered_map<std::string_view, std::vector<const Operator*>> by_name_;
};

/// bool(tensor). Throws Error unless it has one element.
bool truth_of(const Tensor& tensor);

void add_number_builtins(BuiltinTable& table);
void add_math_builtins(BuiltinTable& table);
void add_string_builtins(BuiltinTable& table);
void add_text_builtins(BuiltinTable& table);
void add_list_builtins(BuiltinTable& table);
void add_dict_builtins(BuiltinTable& table);
void add_tensor_builtins(BuiltinTable& table);
void add_make_builtins(BuiltinTable& table);
void add_window_builtins(BuiltinTable& table);
void add_sparse_builtins(BuiltinTable& table);
void add_convert_builtins(BuiltinTable& table);
void add_profile_builtins(BuiltinTable& table);

}  // namespace hotaru::script
