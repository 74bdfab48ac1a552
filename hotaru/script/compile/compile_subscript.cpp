// Subscripts and slices.
#include <algorithm>

#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

std::optional<int64_t> FunctionCompiler::constant_index(Var* var) const {
  if (!var->producer) return std::nullopt;
  const Node& node = *var->producer;
  if (node.kind == NodeKind::kConstant && node.value.is_int())
    return node.value.as_int();
  // -1 arrives as neg(1).
  if (node.kind == NodeKind::kOp && node.op->name() == "neg") {
    if (const Value* value = node.constant(0); value && value->is_int())
      return int64_t(-uint64_t(value->as_int()));
  }
  return std::nullopt;
}

bool FunctionCompiler::is_special(const Expr& expr, std::string_view name) {
  if (expr.kind != ExprKind::kName || lookup(expr.text) ||
      aliases_.contains(expr.text))
    return false;
  const Meaning meaning = function_.resolver().name(expr.text);
  return meaning.kind == Meaning::Kind::kSpecial && meaning.text == name;
}

FunctionCompiler::Slice FunctionCompiler::slice_call(const Expr& expr) {
  Slice out = {};
  const size_t given = expr.items.size() - 1;
  if (!expr.keywords.empty()) {
    fail_at(expr.item(0).range, "Slice does not accept any keyword arguments");
  }
  if (given < 1 || given > 3)
    fail_at(expr.range, "slice takes one to three arguments");
  for (size_t i = 0; i < given; ++i) {
    Var* bound = value(expr.item(i + 1));
    if (bound->type->kind == TypeKind::kNone) continue;
    out[given == 1 ? 1 : i] = bound;
  }
  return out;
}

std::optional<FunctionCompiler::Slice> FunctionCompiler::slice_parts(
    const Expr& index) {
  if (index.kind == ExprKind::kCall && is_special(index.item(0), "slice"))
    return slice_call(index);
  if (index.kind == ExprKind::kName) {
    const auto alias = aliases_.find(index.text);
    if (alias != aliases_.end() && alias->second.kind == Sugared::Kind::kSlice)
      return alias->second.slice;
  }
  if (index.kind != ExprKind::kSlice) return {};
  Slice out = {};
  for (size_t i = 0; i < 3; ++i) {
    if (!index.items[i]) continue;
    Var* bound = value(index.item(i));
    if (bound->type->kind != TypeKind::kNone) out[i] = bound;
  }
  return out;
}

Var* FunctionCompiler::slice_of(Var* base, const Slice& slice,
                                const SourceRange& range) {
  auto bound = [&](Var* given) { return given ? given : none(range); };
  return builtin("slice",
                 {base, bound(slice[0]), bound(slice[1]),
                  slice[2] ? slice[2] : constant(1, range)},
                 range);
}

Var* FunctionCompiler::subscript(const Expr& expr, TypePtr hint) {
  Var* base = value(expr.item(0));
  if (base->type->kind == TypeKind::kTensor)
    return tensor_subscript(expr, base);
  if (expr.items.size() != 2) {
    fail_at(expr.range, "a value of type '", base->type->annotation(),
            "' takes one index");
  }
  const Expr& index = expr.item(1);
  if (base->type->kind == TypeKind::kTuple) return tuple_subscript(expr, base);
  if (is_container(base)) return container_item(expr, base, hint);
  if (const auto slice = slice_parts(index))
    return slice_of(base, *slice, expr.range);
  Var* key = value(index);
  if (base->type->kind == TypeKind::kClass) {
    Sugared method = attribute_of(base, "__getitem__", expr.range);
    return call_sugared(method, {{key, {}, expr.range}}, expr.range);
  }
  return builtin("__getitem__", {base, key}, expr.range);
}

Var* FunctionCompiler::tuple_subscript(const Expr& expr, Var* base) {
  const Expr& index = expr.item(1);
  const std::vector<TypePtr>& types = base->type->items;
  int64_t count = int64_t(types.size());
  auto element = [&](int64_t at) {
    Node* node = emit(NodeKind::kTupleIndex, expr.range, {base});
    node->index = at;
    return graph_.add_output(node, types[size_t(at)]);
  };
  const std::optional<Slice> slice = slice_parts(index);
  if (!slice) {
    std::optional<int64_t> at = constant_index(value(index));
    if (!at) {
      fail_at(expr.range, "Cannot index into a ", base->type->annotation(),
              " with a non-integer literal because we cannot resolve the "
              "output type");
    }
    int64_t wrapped = *at < 0 ? *at + count : *at;
    if (wrapped < 0 || wrapped >= count) {
      fail_at(expr.range, "Tuple index out of range. Tuple is length ", count,
              " and index is ", *at);
    }
    return element(wrapped);
  }
  std::optional<int64_t> bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!(*slice)[i]) continue;
    std::optional<int64_t> bound = constant_index((*slice)[i]);
    if (!bound)
      fail_at(index.range, "a tuple's slice must be known while compiling");
    bounds[i] = *bound < 0 && i < 2 ? *bound + count : *bound;
  }
  int64_t step = bounds[2].value_or(1);
  if (step == 0) fail_at(index.range, kSliceStep);
  // As in Python: backwards, the last element is the first.
  int64_t least = step > 0 ? 0 : -1;
  int64_t most = step > 0 ? count : count - 1;
  auto clamped = [&](std::optional<int64_t> bound, int64_t otherwise) {
    return bound ? std::clamp(*bound, least, most) : otherwise;
  };
  int64_t at = clamped(bounds[0], step > 0 ? 0 : most);
  int64_t end = clamped(bounds[1], step > 0 ? count : -1);
  std::vector<Var*> items;
  std::vector<TypePtr> item_types;
  while (step > 0 ? at < end : at > end) {
    items.push_back(element(at));
    item_types.push_back(items.back()->type);
    bool over = step > 0 ? step >= end - at : step <= end - at;
    if (over) break;
    at += step;
  }
  return emit_value(NodeKind::kTuple, expr.range, items,
                    types_.tuple(std::move(item_types)));
}

Var* FunctionCompiler::tensor_subscript(const Expr& expr, Var* base) {
  std::vector<Var*> indices;
  Var* view = tensor_view(expr, base, &indices);
  Var* list = index_list(indices, expr.range);
  return list ? builtin("index", {view, list}, expr.range) : view;
}

Var* FunctionCompiler::index_list(const std::vector<Var*>& indices,
                                  const SourceRange& range) {
  if (indices.empty()) return nullptr;
  TypePtr item = types_.optional(TypeTable::tensor());
  return emit_value(NodeKind::kList, range, indices, types_.list(item));
}

Var* FunctionCompiler::tensor_view(const Expr& expr, Var* base,
                                   std::vector<Var*>* indices) {
  const SourceRange& range = expr.range;
  std::vector<const Expr*> parts;
  for (size_t i = 1; i < expr.items.size(); ++i) {
    const Expr& part = expr.item(i);
    if (part.kind == ExprKind::kTuple && expr.items.size() == 2)
      parts.assign(part.items.begin(), part.items.end());
    else
      parts.push_back(&part);
  }
  Var* view = base;
  std::vector<std::pair<int64_t, Var*>> tensors;
  auto is_ellipsis = [this](const Expr& part) {
    return part.kind == ExprKind::kEllipsis || is_special(part, "Ellipsis");
  };
  // After "..." dimensions count from the end: -dim are still to come.
  int64_t dim = 0;
  bool from_end = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Expr& part = *parts[i];
    Var* at = constant(dim, part.range);
    if (is_ellipsis(part)) {
      int64_t rest = 0;
      for (size_t j = i + 1; j < parts.size(); ++j) {
        rest += parts[j]->kind != ExprKind::kNone;
        if (is_ellipsis(*parts[j]))
          fail_at(parts[j]->range, "only one '...' is allowed");
      }
      dim = -rest;
      from_end = true;
      continue;
    }
    const std::optional<Slice> slice = slice_parts(part);
    Var* index = slice ? nullptr : value(part);
    if (index && index->type->kind == TypeKind::kNone) {
      view = builtin("unsqueeze",
                     {view, from_end ? constant(dim - 1, range) : at}, range);
      if (!from_end) ++dim;
      continue;
    }
    if (!index) {  // a slice
      const auto& [begin, end, step] = *slice;
      auto bound = [&](Var* given) { return given ? given : none(part.range); };
      if (begin || end || step) {
        view = builtin("slice",
                       {view, at, bound(begin), bound(end),
                        step ? step : constant(1, part.range)},
                       part.range);
      }
      ++dim;
      continue;
    }
    switch (index->type->kind) {
      case TypeKind::kInt:
        view = builtin("select", {view, at, index}, part.range);
        if (from_end) ++dim;
        continue;
      case TypeKind::kList:
      case TypeKind::kBool:
        index = builtin("tensor", {index}, part.range);
        [[fallthrough]];
      case TypeKind::kTensor:
        if (from_end)
          fail_at(part.range, "index tensors behind '...' are not supported");
        tensors.emplace_back(dim, index);
        ++dim;
        continue;
      default:
        fail_at(part.range,
                "Unsupported operation: indexing tensor with unsupported "
                "index type '",
                index->type->annotation(),
                "'. Only ints, slices, lists and tensors are supported");
    }
  }
  for (const auto& [position, tensor] : tensors) {
    while (int64_t(indices->size()) < position) indices->push_back(none(range));
    indices->push_back(tensor);
  }
  return view;
}

}  // namespace hotaru::script
