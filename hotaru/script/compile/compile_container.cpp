// Modules that hold modules: what loops, indices and len() see of them. All of
// it is known while compiling.
#include <algorithm>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/compile/compiler.h"

namespace hotaru::script {

bool FunctionCompiler::is_container(const Var* var) const {
  return var->type->kind == TypeKind::kClass &&
         var->type->cls->container() != ClassType::Container::kNone &&
         !var->type->cls->find_method("__getitem__");
}

namespace {

bool is_member(const Attribute& attribute) {
  return attribute.is_parameter || (attribute.type->kind == TypeKind::kClass &&
                                    attribute.type->cls->is_module());
}

}  // namespace

std::optional<int64_t> FunctionCompiler::fixed_length(const Var* var) const {
  if (var->type->kind == TypeKind::kTuple)
    return int64_t(var->type->items.size());
  if (!is_container(var)) return std::nullopt;
  const std::vector<Attribute>& attributes = var->type->cls->attributes();
  return std::count_if(attributes.begin(), attributes.end(), is_member);
}

// The modules and parameters by name, in order.
std::vector<std::pair<std::string_view, Var*>> FunctionCompiler::members(
    Var* var, const SourceRange& range) {
  std::vector<std::pair<std::string_view, Var*>> out;
  const std::vector<Attribute>& attributes = var->type->cls->attributes();
  for (size_t i = 0; i < attributes.size(); ++i) {
    const Attribute& attribute = attributes[i];
    if (!is_member(attribute)) continue;
    Node* node = emit(NodeKind::kGetAttr, range, {var});
    node->name = attribute.name;
    node->index = int64_t(i);
    out.emplace_back(attribute.name, graph_.add_output(node, attribute.type));
  }
  return out;
}

// A tuple of the container's keys, values or items.
Var* FunctionCompiler::container_view(Var* var, std::string_view what,
                                      const SourceRange& range) {
  auto tuple_of = [&](const std::vector<Var*>& items) {
    std::vector<TypePtr> types;
    for (Var* item : items) types.push_back(item->type);
    return emit_value(NodeKind::kTuple, range, items, types_.tuple(types));
  };
  std::vector<Var*> items;
  for (const auto& [name, value] : members(var, range)) {
    if (what == "values") {
      items.push_back(value);
      continue;
    }
    Var* key = constant(std::string(name), range);
    items.push_back(what == "keys" ? key : tuple_of({key, value}));
  }
  return tuple_of(items);
}

bool FunctionCompiler::is_module_walk(std::string_view method) {
  if (method.starts_with("named_")) method.remove_prefix(6);
  return method == "children" || method == "modules" ||
         method == "parameters" || method == "buffers";
}

// A tuple of what module.children() and its like yield, in their order.
Var* FunctionCompiler::module_walk(Var* module, std::string_view method,
                                   const SourceRange& range) {
  const bool named = method.starts_with("named_");
  if (named) method.remove_prefix(6);
  std::vector<std::pair<std::string, Var*>> found;
  // Classes of an archive that hold each other twice would make 2^n members.
  constexpr int kMost = 20'000;
  int seen = 0;
  const auto walk = [&](const auto& self, Var* var,
                        const std::string& path) -> void {
    if (method == "modules") found.emplace_back(path, var);
    std::vector<std::pair<std::string, Var*>> below;
    const std::vector<Attribute>& attributes = var->type->cls->attributes();
    for (size_t i = 0; i < attributes.size(); ++i) {
      const Attribute& attribute = attributes[i];
      const bool module = attribute.type->kind == TypeKind::kClass &&
                          attribute.type->cls->is_module();
      const bool wanted = method == "parameters" ? attribute.is_parameter
                          : method == "buffers"  ? attribute.is_buffer
                                                 : false;
      if (!module && !wanted) continue;
      if (wanted && attribute.type->kind == TypeKind::kNone) continue;
      if (++seen > kMost)
        fail_at(range, "a walk over more than ", kMost, " members");
      Node* node = emit(NodeKind::kGetAttr, range, {var});
      node->name = attribute.name;
      node->index = int64_t(i);
      Var* value = graph_.add_output(node, attribute.type);
      std::string name =
          path.empty() ? attribute.name : concat(path, ".", attribute.name);
      if (wanted || method == "children")
        found.emplace_back(std::move(name), value);
      else
        below.emplace_back(std::move(name), value);
    }
    for (const auto& [name, child] : below) self(self, child, name);
  };
  walk(walk, module, "");
  std::vector<Var*> items;
  std::vector<TypePtr> types;
  for (const auto& [name, value] : found) {
    Var* item = value;
    if (named) {
      Var* key = constant(name, range);
      item = emit_value(NodeKind::kTuple, range, {key, value},
                        types_.tuple({key->type, value->type}));
    }
    items.push_back(item);
    types.push_back(item->type);
  }
  return emit_value(NodeKind::kTuple, range, items, types_.tuple(types));
}

// One of several modules, by an index that is known when the program runs.
Var* FunctionCompiler::container_item_as(TypePtr interface, const Expr& expr,
                                         Var* base, Var* index) {
  bool by_name = index->type->kind == TypeKind::kString;
  std::vector<Var*> items;
  for (const auto& [name, var] : members(base, expr.range)) {
    if (by_name) items.push_back(constant(std::string(name), expr.range));
    items.push_back(
        as_type(var, interface, expr.range,
                concat("Attribute ", name, " is not of annotated type "),
                ": it is of type "));
  }
  Var* all = by_name ? emit_value(NodeKind::kDict, expr.range, items,
                                  types_.dict(TypeTable::string(), interface))
                     : emit_value(NodeKind::kList, expr.range, items,
                                  types_.list(interface));
  return builtin("__getitem__", {all, index}, expr.range);
}

Var* FunctionCompiler::container_item(const Expr& expr, Var* base,
                                      TypePtr hint) {
  const Expr& index = expr.item(1);
  if (hint && hint->kind == TypeKind::kClass && hint->cls->is_interface() &&
      index.kind != ExprKind::kSlice) {
    Var* at = value(index);
    bool fixed = at->producer && at->producer->kind == NodeKind::kConstant;
    if (!fixed) return container_item_as(hint, expr, base, at);
  }
  if (base->type->cls->container() == ClassType::Container::kDict) {
    Var* key = value(index);
    const Value* name =
        key->producer && key->producer->kind == NodeKind::kConstant
            ? &key->producer->value
            : nullptr;
    if (!name || !name->is_string()) {
      fail_at(expr.range,
              "Unable to extract string literal index. ModuleDict indexing is "
              "only supported with string literals. For example, 'i = \"a\"; "
              "self.layers[i](x)' will fail because i is not a literal. "
              "Enumeration of ModuleDict is supported, e.g. 'for k, v in "
              "self.items(): out = v(inp)'");
    }
    for (const auto& [member, var] : members(base, expr.range))
      if (member == name->as_string()) return var;
    fail_at(expr.range, "Key Error, ", name->as_string());
  }
  if (!is_slice(index)) {
    const std::optional<int64_t> at = constant_index(value(index));
    if (!at) {
      fail_at(expr.range,
              "Expected integer literal for index but got a variable or "
              "non-integer. ModuleList/Sequential indexing is only supported "
              "with integer literals. For example, 'i = 4; self.layers[i](x)' "
              "will fail because i is not a literal. Enumeration is supported, "
              "e.g. 'for index, v in enumerate(self): out = v(inp)'");
    }
    const auto items = members(base, expr.range);
    const int64_t count = int64_t(items.size());
    const int64_t wrapped = *at < 0 ? *at + count : *at;
    if (wrapped < 0 || wrapped >= count)
      fail_at(expr.range, "Index ", *at, " out of range of length ", count);
    return items[size_t(wrapped)].second;
  }
  // A slice, as of a tuple.
  return tuple_subscript(expr, container_view(base, "values", expr.range));
}

}  // namespace hotaru::script
