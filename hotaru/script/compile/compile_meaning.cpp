// Calls of operators that mean more than their name: of older archives, of
// lists, and with `out=`.
#include <algorithm>
#include <span>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/builtins/out_copy.h"
#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/program/upgraders.h"

namespace hotaru::script {

Var* FunctionCompiler::upgraded(std::string_view name,
                                std::vector<CallArg> args,
                                const SourceRange& range) {
  OldCall call{.name = name, .version = function_.resolver().version()};
  if (call.version > kLastUpgraded || args.size() < 2) return nullptr;
  call.of_tensor = args[0].var->type->kind == TypeKind::kTensor;
  call.other_is_tensor = args[1].var->type->kind == TypeKind::kTensor;
  for (const CallArg& arg : args) {
    call.out |= arg.keyword == "out";
    call.rounding |= arg.keyword == "rounding_mode";
  }
  const std::string_view function = upgrader_of(call);
  if (function.empty() || function_.name().starts_with(kUpgraders))
    return nullptr;
  // Operators take a bool or a tensor of one element for a number.
  for (CallArg& arg : std::span(args).first(2)) {
    const TypeKind kind = arg.var->type->kind;
    if (kind == TypeKind::kBool)
      arg.var = builtin("Int", {arg.var}, range);
    else if (kind == TypeKind::kTensor && !name.starts_with("div"))
      arg.var = builtin("ScalarImplicit", {arg.var}, range);
  }
  return call_function(*unit_.find_function(concat(kUpgraders, ".", function)),
                       args, range);
}

// The dtype of an empty list is that of the numbers that it may hold. Null for
// all calls that need no such care.
Var* FunctionCompiler::tensor_of_list(std::string_view name,
                                      const std::vector<CallArg>& args,
                                      const SourceRange& range) {
  if (args.empty() || args[0].var->type->kind != TypeKind::kList)
    return nullptr;
  TypePtr item = args[0].var->type;
  while (item->kind == TypeKind::kList) item = item->item();
  if (item->kind == TypeKind::kTensor || item->kind == TypeKind::kTuple) {
    std::string message = concat(
        "Input must be of ints, floats, or bools, got ", item->annotation());
    if (item->kind == TypeKind::kTensor) {
      message +=
          "\nEmpty lists default to List[Tensor]. Add a variable annotation to "
          "the assignment to create an empty list of another type "
          "(torch.jit.annotate(List[T, []]) where T is the type of elements in "
          "the list for Python 2)";
    }
    emit(NodeKind::kRaise, range, {constant(message, range)});
    TypePtr type = TypeTable::tensor();
    return constant(default_value(type), range, type);
  }
  const bool told =
      std::any_of(args.begin() + 1, args.end(), [](const CallArg& arg) {
        return arg.keyword.empty() || (arg.keyword == "dtype" &&
                                       arg.var->type->kind != TypeKind::kNone);
      });
  const bool whole =
      item->kind == TypeKind::kInt || item->kind == TypeKind::kBool;
  const Node* made = args[0].var->producer;
  const bool literal = made && made->kind == NodeKind::kList &&
                       !made->inputs.empty() &&
                       made->in(0)->type->kind != TypeKind::kList;
  if (told || !whole || literal) return nullptr;
  std::vector<CallArg> all;
  for (const CallArg& arg : args)
    if (arg.keyword != "dtype") all.push_back(arg);
  const DType dtype =
      item->kind == TypeKind::kInt ? DType::kInt64 : DType::kBool;
  all.push_back({constant(Value(dtype), range), "dtype", range});
  return builtin(name, all, range);
}

// The result, copied to where it shall be.
Var* FunctionCompiler::builtin_into(std::string_view name,
                                    const std::vector<CallArg>& args,
                                    size_t out, const SourceRange& range) {
  std::vector<CallArg> others = args;
  others.erase(others.begin() + std::ptrdiff_t(out));
  Var* target = args[out].var;
  const bool told = std::ranges::any_of(others, [](const CallArg& arg) {
    return arg.keyword == "dtype" && arg.var->type->kind != TypeKind::kNone;
  });
  if (!told && target->type->kind == TypeKind::kTensor && follows_out(name)) {
    std::erase_if(others,
                  [](const CallArg& arg) { return arg.keyword == "dtype"; });
    others.push_back({builtin("dtype", {target}, range), "dtype", range});
  }
  Var* result = builtin(name, others, range);
  if (target->type->kind == TypeKind::kNone) return result;
  return write_into(target, result, name, range);
}

Var* FunctionCompiler::write_into(Var* target, Var* result,
                                  std::string_view name,
                                  const SourceRange& range) {
  const size_t count = target->type->items.size();
  if (target->type->kind == TypeKind::kTuple &&
      result->type->kind == TypeKind::kTuple &&
      result->type->items.size() == count) {
    std::vector<Var*> written;
    for (size_t i = 0; i < count; ++i) {
      Var* parts[2] = {target, result};
      for (Var*& part : parts) {
        Node* node = emit(NodeKind::kTupleIndex, range, {part});
        node->index = int64_t(i);
        part = graph_.add_output(node, part->type->items[i]);
      }
      written.push_back(write_into(parts[0], parts[1], name, range));
    }
    return emit_value(NodeKind::kTuple, range, written, target->type);
  }
  if (target->type->kind != TypeKind::kTensor ||
      result->type->kind != TypeKind::kTensor) {
    fail_at(range, "out= of type '", target->type->annotation(),
            "' is not supported for '", name, "'");
  }
  // The operator that made it says how it may be written.
  const Node* made = result->producer;
  if (made && made->kind == NodeKind::kTupleIndex) made = made->in(0)->producer;
  if (made && made->kind == NodeKind::kTuple)
    made = made->inputs.empty() ? nullptr : made->in(0)->producer;
  builtin("resize_", {target, builtin("size", {result}, range)}, range);
  Var* copied = builtin("copy_", {target, result}, range);
  if (made && made->kind == NodeKind::kOp)
    copied->producer->op = &out_copy(*made->op);
  return copied;
}

}  // namespace hotaru::script
