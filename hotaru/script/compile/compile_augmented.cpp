// Augmented assignment: `target op= value`.
#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/compile/compiler.h"

namespace hotaru::script {

namespace {

struct Augmented {
  std::string_view op;
  std::string_view of_tensor;  // empty: Python rebinds, as for x @= y
  std::string_view of_list;
  std::string_view method;  // of objects
};

constexpr Augmented kAugmented[] = {
    {"+", "add_", "add_", "__iadd__"},
    {"-", "sub_", "", "__isub__"},
    {"*", "mul_", "mul_", "__imul__"},
    {"/", "div_", "", "__itruediv__"},
    {"//", "floor_divide_", "", "__ifloordiv__"},
    {"%", "remainder_", "", "__imod__"},
    {"**", "pow_", "", "__ipow__"},
    {"@", "", "", "__imatmul__"},
    {"&", "__iand__", "", "__iand__"},
    {"|", "__ior__", "", "__ior__"},
    {"^", "__ixor__", "", "__ixor__"},
    {"<<", "__ilshift__", "", "__ilshift__"},
    {">>", "__irshift__", "", "__irshift__"},
};

}  // namespace

void FunctionCompiler::check_operator(TypePtr type, const Stmt& stmt) {
  std::string_view method;
  for (const Augmented& known : kAugmented)
    if (known.op == stmt.op) method = known.method;
  const std::string plain = concat("__", method.substr(3));
  if (!type->cls->find_method(plain)) type->cls->load_member(plain);
  if (type->cls->find_method(plain)) return;
  fail_at(stmt.range, "Cannot emit inplace op on ", type->annotation(),
          " since it does not define an ", method, " or ", plain, " method");
}

void FunctionCompiler::augmented(const Stmt& stmt) {
  const Expr& target = *stmt.targets[0];
  if (target.kind == ExprKind::kTuple || target.kind == ExprKind::kList) {
    fail_at(target.range,
            "augmented assignment can only have one LHS expression");
  }
  const Place place = place_of(target);
  Var* right = value(*stmt.value, place.value->type);
  Var* written = in_place(stmt.op, place.value, right, stmt.range);
  if (!written && place.value->type->kind == TypeKind::kClass)
    check_operator(place.value->type, stmt);
  // An object's method may give another object.
  const bool same = written && place.value->type->kind != TypeKind::kClass;
  place.store(
      written ? written : operate(stmt.op, place.value, right, stmt.range),
      same);
}

Var* FunctionCompiler::in_place(std::string_view op, Var* left, Var* right,
                                const SourceRange& range) {
  for (const Augmented& known : kAugmented) {
    if (known.op != op) continue;
    switch (left->type->kind) {
      case TypeKind::kTensor:
        if (known.of_tensor.empty()) return nullptr;
        return builtin(known.of_tensor, {left, right}, range);
      case TypeKind::kList:
        if (known.of_list.empty()) return nullptr;
        return builtin(known.of_list, {left, right}, range);
      default:
        return magic(left, known.method, {{right, {}, range}}, range);
    }
  }
  fail_at(range, "operator '", op, "=' is not supported");
}

FunctionCompiler::Place FunctionCompiler::place_of(const Expr& target) {
  if (target.kind == ExprKind::kSubscript) return subscript_place(target);
  if (target.kind == ExprKind::kAttribute) {
    const Sugared base = sugared(target.item(0));
    if (base.kind == Sugared::Kind::kVar) {
      Var* object = base.var;
      Var* now =
          as_var(attribute_of(object, target.text, target.range), target.range);
      const bool property = object->type->kind == TypeKind::kClass &&
                            object->type->cls->is_property(target.text);
      return {now,
              [this, &target, object, property](Var* result, bool written) {
                if (!written || property)
                  set_attribute(object, target, result, nullptr);
              }};
    }
  }
  return {value(target), [this, &target](Var* result, bool written) {
            if (!written) assign_to(target, result, nullptr);
          }};
}

FunctionCompiler::Place FunctionCompiler::subscript_place(const Expr& target) {
  const SourceRange& range = target.range;
  Var* base = value(target.item(0));
  if (base->type->kind == TypeKind::kTuple) {
    fail_at(range, base->type->annotation(),
            " does not support augmented assignment.");
  }
  if (base->type->kind == TypeKind::kTensor) {
    std::vector<Var*> indices;
    Var* view = tensor_view(target, base, &indices);
    Var* list = index_list(indices, range);
    auto store = [this, &range, view, list](Var* result, bool written) {
      if (list || !written) put(view, list, result, range);
    };
    return {list ? builtin("index", {view, list}, range) : view, store};
  }
  Var* key = item_key(target, base);
  const bool object = base->type->kind == TypeKind::kClass;
  Var* item = object ? call_sugared(attribute_of(base, "__getitem__", range),
                                    {{key, {}, range}}, range)
                     : builtin("__getitem__", {base, key}, range);
  return {item, [this, &range, base, key, object](Var* result, bool written) {
            if (object || !written) set_item(base, key, result, range);
          }};
}

}  // namespace hotaru::script
