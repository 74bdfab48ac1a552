#include "hotaru/exchange/onnx/operand.h"

#include <algorithm>

#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/script/archive/literal.h"

namespace hotaru::exchange::onnx {

using script::TypeKind;
using script::TypePtr;

namespace {

// Longer lists of numbers stay tensors: a program's text is not for data.
constexpr int64_t kMaxNumbers = 4096;
// Integers of at most that many elements are rather a shape than data.
constexpr int64_t kMaxShape = 32;

bool is_list_of(TypePtr type, TypeKind kind) {
  return type->kind == TypeKind::kList && type->item()->kind == kind;
}

// Tuple[int]: a list that is known to have one element, a small number: as
// many elements as a shape may have, or -1.
bool is_one_int(TypePtr type) {
  return type->kind == TypeKind::kTuple && type->items.size() == 1 &&
         type->items[0]->kind == TypeKind::kInt;
}

std::vector<Value> numbers_of(const Tensor& tensor) {
  const bool integral = is_integral(tensor.dtype(), true);
  const Tensor wide =
      to(tensor, integral ? DType::kInt64 : DType::kFloat64, {});
  const auto* integers = host_data<int64_t>(wide, "onnx");
  const auto* reals = host_data<double>(wide, "onnx");
  std::vector<Value> out;
  for (int64_t i = 0; i < wide.numel(); ++i)
    out.push_back(integral ? Value(integers[i]) : Value(reals[i]));
  return out;
}

bool holds_numbers(const Tensor& tensor) {
  return !tensor.is_complex() && tensor.dim() <= 1 &&
         tensor.numel() <= kMaxNumbers && !is_wide_unsigned(tensor.dtype()) &&
         !is_float8(tensor.dtype());
}

std::optional<int> cost_of_constant(const Operand& operand, TypePtr type) {
  const Tensor& tensor = operand.constant->tensor;
  if (type->kind == TypeKind::kTensor)
    return operand.host_kind() == Kind::kTensor ? 0 : 1;
  if (is_one_int(type)) {
    const bool one = tensor.dtype() == DType::kInt64 && tensor.dim() == 1 &&
                     tensor.numel() == 1 &&
                     numbers_of(tensor)[0].as_int() <= kMaxShape;
    return one ? std::optional<int>(0) : std::nullopt;
  }
  if (!constant_value(tensor, type)) return std::nullopt;
  // As data, only int64 keeps its dtype on the host, and a number is no list:
  // the same as for values of the host.
  const bool ints = is_list_of(type, TypeKind::kInt);
  if (!ints && type->kind != TypeKind::kInt) return 0;
  const int other_rank =
      ints ? (tensor.dim() == 0 ? 1 : 0) : (tensor.dim() == 1 ? 3 : 0);
  return other_rank + (tensor.dtype() != DType::kInt64 ? kOtherDtype : 0);
}

}  // namespace

const char* type_text(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kInts:
      return "List[int]";
    case Kind::kTensors:
      return "List[Tensor]";
    case Kind::kMaybeTensor:
      return "Optional[Tensor]";
    case Kind::kMaybeTensors:
      return "Optional[List[Tensor]]";
    default:
      return "Tensor";
  }
}

Kind kind_of(TypePtr type) {
  switch (type->kind) {
    case TypeKind::kTensor:
      return Kind::kTensor;
    case TypeKind::kBool:
      return Kind::kBool;
    case TypeKind::kInt:
      return Kind::kInt;
    case TypeKind::kList:
      return is_list_of(type, TypeKind::kInt)      ? Kind::kInts
             : is_list_of(type, TypeKind::kTensor) ? Kind::kTensors
                                                   : Kind::kMissing;
    case TypeKind::kOptional: {
      Kind item = kind_of(type->item());
      return item == Kind::kTensor    ? Kind::kMaybeTensor
             : item == Kind::kTensors ? Kind::kMaybeTensors
                                      : Kind::kMissing;
    }
    default:
      return Kind::kMissing;
  }
}

Kind joined(Kind a, Kind b) {
  if (a == b) return a;
  auto one_of = [&](std::initializer_list<Kind> kinds) {
    auto among = [&](Kind kind) {
      return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    return among(a) && among(b);
  };
  if (one_of({Kind::kTensor, Kind::kBool, Kind::kInt, Kind::kInts}))
    return Kind::kTensor;
  if (one_of({Kind::kNone, Kind::kTensor, Kind::kMaybeTensor}))
    return Kind::kMaybeTensor;
  if (one_of({Kind::kNone, Kind::kTensors, Kind::kMaybeTensors}))
    return Kind::kMaybeTensors;
  return Kind::kMissing;
}

bool is_short(const Operand& operand, DType dtype) {
  if (!operand.constant) return false;
  const Tensor& tensor = operand.constant->tensor;
  return tensor.dtype() == dtype && tensor.dim() <= 1 &&
         tensor.numel() <= kMaxShape;
}

Kind Operand::host_kind() const {
  if (!constant) return is_other() ? Kind::kTensor : kind;
  if (!is_short(*this, DType::kInt64)) return Kind::kTensor;
  return constant->tensor.dim() == 0 ? Kind::kInt : Kind::kInts;
}

std::optional<Value> constant_value(const Tensor& tensor, TypePtr type) {
  if (type->kind == TypeKind::kOptional) type = type->item();
  if (!holds_numbers(tensor)) return std::nullopt;
  if (type->kind == TypeKind::kList) {
    TypeKind item = type->item()->kind;
    bool fits = item == TypeKind::kFloat ||
                (item == TypeKind::kInt && is_integral(tensor.dtype(), true));
    if (!fits) return std::nullopt;
    std::vector<Value> numbers = numbers_of(tensor);
    if (item == TypeKind::kFloat) {
      for (Value& number : numbers)
        if (number.is_int()) number = double(number.as_int());
    }
    return Value::list(std::move(numbers));
  }
  if (tensor.numel() != 1) return std::nullopt;
  const Value number = numbers_of(tensor)[0];
  switch (type->kind) {
    case TypeKind::kBool:
      if (tensor.dtype() == DType::kBool) return Value(number.as_int() != 0);
      return std::nullopt;
    case TypeKind::kInt:
      if (number.is_int()) return number;
      return std::nullopt;
    case TypeKind::kFloat:
      return Value(number.is_int() ? double(number.as_int())
                                   : number.as_double());
    case TypeKind::kNumber:
      return number;
    default:
      return std::nullopt;
  }
}

std::optional<int> cost(const Operand& operand, TypePtr type) {
  if (type->kind == TypeKind::kOptional) {
    if (operand.kind == Kind::kNone || operand.kind == kind_of(type)) return 0;
    return cost(operand, type->item());
  }
  if (operand.constant) return cost_of_constant(operand, type);
  if (is_one_int(type)) {
    bool one = operand.kind == Kind::kInts && operand.one;
    return one ? std::optional<int>(0) : std::nullopt;
  }
  const bool tensor = type->kind == TypeKind::kTensor;
  const bool ints = is_list_of(type, TypeKind::kInt);
  const bool number = type->kind == TypeKind::kInt ||
                      type->kind == TypeKind::kFloat ||
                      type->kind == TypeKind::kNumber;
  switch (operand.kind) {
    case Kind::kTensor:
      if (tensor) return 0;
      if (ints || number || type->kind == TypeKind::kBool ||
          is_list_of(type, TypeKind::kFloat))
        return 10;
      return std::nullopt;
    case Kind::kBool:
      if (type->kind == TypeKind::kBool) return 0;
      if (tensor) return 2;
      return std::nullopt;
    case Kind::kInt:
      if (type->kind == TypeKind::kInt) return 0;
      if (number || ints) return 1;
      if (tensor) return 2;
      return std::nullopt;
    case Kind::kInts:
      if (ints) return 0;
      if (tensor) return 2;
      if (type->kind == TypeKind::kInt) return 3;
      return std::nullopt;
    case Kind::kTensors:
      if (is_list_of(type, TypeKind::kTensor)) return 0;
      return std::nullopt;
    case Kind::kMaybeTensor:
      if (tensor) return 1;
      return std::nullopt;
    case Kind::kMaybeTensors:
      if (is_list_of(type, TypeKind::kTensor)) return 1;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

namespace {

std::string expression(Constant& constant, ModuleTree& tree) {
  if (!constant.expression.empty()) return constant.expression;
  std::string name = constant.name.empty() ? "constant" : constant.name;
  // ONNX takes any bytes for a name, and one name twice in different graphs.
  bool dotted =
      name.front() != '.' && name.back() != '.' && name.find("..") == name.npos;
  if (!dotted) std::replace(name.begin(), name.end(), '.', '_');
  for (int tries = 0;; ++tries) {
    std::string candidate = tries ? concat(name, "_", tries) : name;
    try {
      tree.add(candidate, constant.tensor, constant.role);
    } catch (const Error&) {
      if (tries > 100'000) throw;
      if (tries == 8) name = "constant";
      continue;
    }
    return constant.expression = ModuleTree::expression(candidate);
  }
}

std::string tensor_text(const Operand& operand, ModuleTree& tree) {
  if (operand.constant) return expression(*operand.constant, tree);
  const std::string as_other =
      operand.is_other() ? concat(".to(", int(operand.dtype), ")") : "";
  switch (operand.kind) {
    case Kind::kTensor:
      if (operand.known) return concat(operand.text, ".to(", kDevice, ")");
      return operand.text;
    case Kind::kMaybeTensor:
      return concat("unchecked_cast(Tensor, ", operand.text, ")");
    case Kind::kInts:
      return concat("_host_tensor(", operand.text, ", ", kDevice, ")",
                    as_other);
    default:
      return concat("torch.tensor(", operand.text, ")", as_other);
  }
}

}  // namespace

bool is_live(const Operand& operand) {
  return operand.kind != Kind::kNone && !operand.constant;
}

bool is_knowable(const Operand& operand) {
  if (!operand.constant) {
    return operand.known || operand.kind == Kind::kInt ||
           operand.kind == Kind::kInts || operand.kind == Kind::kBool;
  }
  const Tensor& tensor = operand.constant->tensor;
  const DType dtype = tensor.dtype();
  // Types that tensors are made of on the host without a conversion.
  return (dtype == DType::kInt64 || dtype == DType::kInt32 ||
          dtype == DType::kBool || dtype == DType::kFloat32) &&
         tensor.numel() <= kMaxShape &&
         operand.constant->role == ModuleTree::Role::kBuffer;
}

std::string known_argument(const Operand& operand) {
  if (operand.kind == Kind::kNone) return "None";
  if (operand.constant) {
    script::TypeTable types;
    const Tensor& tensor = operand.constant->tensor;
    const bool real = tensor.is_floating_point();
    const TypePtr item =
        real ? script::TypeTable::floating() : script::TypeTable::integer();
    std::vector<Value> sizes;
    for (int64_t d = 0; d < tensor.dim(); ++d)
      sizes.emplace_back(tensor.size(d));
    const std::string made = concat(
        real ? "_known_of_reals(" : "_known_of(",
        script::literal(Value::list(numbers_of(tensor)), types.list(item), {}),
        ", ", int(tensor.dtype()), ")");
    if (tensor.dim() == 1) return made;
    return concat(made, ".reshape(",
                  script::literal(Value::list(std::move(sizes)),
                                  types.list(script::TypeTable::integer()), {}),
                  ")");
  }
  switch (operand.kind) {
    case Kind::kInts:
      return concat("_known_of(", operand.text, ", ", int(operand.dtype), ")");
    case Kind::kInt:
      return concat("_known_number(", operand.text, ", ", int(operand.dtype),
                    ")");
    case Kind::kBool:
      return concat("_known_number(int(", operand.text, "), ",
                    int(DType::kBool), ")");
    default:
      return operand.text;
  }
}

std::string argument(const Operand& operand, TypePtr type, ModuleTree& tree) {
  if (operand.kind == Kind::kNone) return "None";
  if (type->kind == TypeKind::kOptional) {
    if (operand.kind == kind_of(type)) return operand.text;
    return argument(operand, type->item(), tree);
  }
  if (type->kind == TypeKind::kTensor) return tensor_text(operand, tree);
  if (type->kind == TypeKind::kBool && operand.is_other())
    return concat("bool(", tensor_text(operand, tree), ")");
  if (is_one_int(type)) {
    return concat("(",
                  operand.constant
                      ? concat(numbers_of(operand.constant->tensor)[0].as_int())
                      : concat(operand.text, "[0]"),
                  ",)");
  }
  if (operand.constant) {
    return script::literal(*constant_value(operand.constant->tensor, type),
                           type, {});
  }
  const std::string& text = operand.text;
  switch (operand.kind) {
    case Kind::kTensor:
      if (is_list_of(type, TypeKind::kInt))
        return concat("_host_ints(", text, ")");
      if (is_list_of(type, TypeKind::kFloat))
        return concat("_host_floats(", text, ")");
      return concat(type->kind == TypeKind::kBool    ? "bool("
                    : type->kind == TypeKind::kFloat ? "float("
                    : type->kind == TypeKind::kInt   ? "int("
                                                     : "torch.item(",
                    text, ")");
    case Kind::kInt:
      if (type->kind == TypeKind::kFloat) return concat("float(", text, ")");
      return type->kind == TypeKind::kList ? concat("[", text, "]") : text;
    case Kind::kInts:
      return type->kind == TypeKind::kInt ? concat(text, "[0]") : text;
    case Kind::kMaybeTensors:
      return concat("unchecked_cast(List[Tensor], ", text, ")");
    default:
      return text;
  }
}

std::string argument(const Operand& operand, Kind kind, ModuleTree& tree) {
  if (operand.kind == kind && !operand.constant && !operand.known)
    return operand.text;
  switch (kind) {
    case Kind::kNone:
    case Kind::kMissing:
      return "None";
    case Kind::kMaybeTensor:
    case Kind::kMaybeTensors: {
      Kind item = kind == Kind::kMaybeTensor ? Kind::kTensor : Kind::kTensors;
      return concat(
          "annotate(", type_text(kind), ", ",
          operand.kind == Kind::kNone ? "None" : argument(operand, item, tree),
          ")");
    }
    case Kind::kTensor:
      return tensor_text(operand, tree);
    default: {
      if (!operand.constant) return operand.text;
      std::vector<Value> numbers = numbers_of(operand.constant->tensor);
      if (kind == Kind::kInts) {
        script::TypeTable types;
        return script::literal(Value::list(numbers),
                               types.list(script::TypeTable::integer()), {});
      }
      const int64_t number = numbers.at(0).as_int();
      if (kind == Kind::kBool) return number ? "True" : "False";
      return concat(number);
    }
  }
}

}  // namespace hotaru::exchange::onnx
