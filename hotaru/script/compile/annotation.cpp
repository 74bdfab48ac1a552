#include "hotaru/script/compile/annotation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hotaru/script/program/resolver.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/source/parser.h"

namespace hotaru::script {

namespace {

using PlainType = TypePtr (*)();

constexpr std::pair<std::string_view, PlainType> kPlain[] = {
    {"Tensor", &TypeTable::tensor},
    {"int", &TypeTable::integer},
    {"float", &TypeTable::floating},
    {"bool", &TypeTable::boolean},
    {"str", &TypeTable::string},
    {"complex", &TypeTable::complex},
    {"None", &TypeTable::none},
    {"NoneType", &TypeTable::none},
    {"Any", &TypeTable::any},
    {"number", &TypeTable::number},
    {"Scalar", &TypeTable::number},
    {"Device", &TypeTable::device},
    {"device", &TypeTable::device},
    {"Generator", &TypeTable::generator},
    {"Storage", &TypeTable::storage},
    {"object", &TypeTable::any},
    {"dtype", &TypeTable::integer},
    {"Layout", &TypeTable::integer},
    {"layout", &TypeTable::integer},
    {"memory_format", &TypeTable::integer},
    {"MemoryFormat", &TypeTable::integer},
    {"ScalarType", &TypeTable::integer},
    {"QScheme", &TypeTable::integer},
    {"qscheme", &TypeTable::integer},
};

// Modules whose types are known by their last name.
bool is_typing_module(const Expr& expr) {
  if (expr.kind == ExprKind::kName) {
    return expr.text == "torch" || expr.text == "typing" ||
           expr.text == "builtins";
  }
  return expr.kind == ExprKind::kAttribute && is_typing_module(expr.item(0));
}

class AnnotationReader {
 public:
  AnnotationReader(CompilationUnit& unit, const Resolver& resolver)
      : types_(unit.types()), resolver_(resolver) {}

  TypePtr read(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kNone:
        return TypeTable::none();
      case ExprKind::kName:
      case ExprKind::kAttribute:
        return named(expr);
      case ExprKind::kSubscript:
        return generic(expr);
      case ExprKind::kBinary:
        if (expr.op == "|") return either(expr);
        break;
      case ExprKind::kString: {
        if (++strings_ > 1) break;
        Source source(expr.range.source->name(), std::string(expr.text),
                      expr.range.line_number());
        TypePtr type = read(*parse_expression(source)->expression);
        --strings_;
        return type;
      }
      default:
        break;
    }
    fail_at(expr.range, "Expression of type ", kind_of(expr),
            " cannot be used in a type expression");
  }

 private:
  /// A | B | C, whose left side is as deep as the chain is long.
  TypePtr either(const Expr& expr) {
    std::vector<TypePtr> types;
    const Expr* rest = &expr;
    for (; rest->kind == ExprKind::kBinary && rest->op == "|";
         rest = &rest->item(0))
      types.push_back(read(rest->item(1)));
    types.push_back(read(*rest));
    std::reverse(types.begin(), types.end());
    return types_.union_of(std::move(types));
  }

  static std::string_view kind_of(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kBinary:
      case ExprKind::kUnary:
      case ExprKind::kCompare:
        return expr.op;
      case ExprKind::kInt:
      case ExprKind::kFloat:
      case ExprKind::kImaginary:
        return "const";
      case ExprKind::kTuple:
        return "tuple_literal";
      case ExprKind::kCall:
        return "apply";
      default:
        return expr.range.text();
    }
  }

  Meaning meaning(const Expr& expr) {
    if (expr.kind == ExprKind::kName) return resolver_.name(expr.text);
    if (expr.kind != ExprKind::kAttribute) return {};
    Meaning parent = meaning(expr.item(0));
    return parent.kind == Meaning::Kind::kNamespace
               ? resolver_.attribute(parent, expr.text)
               : Meaning{};
  }

  TypePtr named(const Expr& expr) {
    Meaning known = meaning(expr);
    if (known.kind == Meaning::Kind::kType) return known.type;
    if (known.kind == Meaning::Kind::kError) fail_at(expr.range, known.text);
    // A name of Python's own str, int and the like, whatever it is.
    const bool alias = known.kind == Meaning::Kind::kBuiltin ||
                       known.kind == Meaning::Kind::kSpecial;
    bool generic = known.kind == Meaning::Kind::kGeneric || alias;
    std::string_view text = generic ? known.text : expr.text;
    if (generic || expr.kind == ExprKind::kName ||
        is_typing_module(expr.item(0))) {
      for (const auto& [name, type] : kPlain)
        if (text == name) return type();
      // nn.common_types: an int for all axes, or one an axis.
      if (is_size_alias(text)) return types_.list(TypeTable::integer());
    }
    if (generic || expr.kind == ExprKind::kName) refuse_bare(text, expr.range);
    if (known.host || known.kind == Meaning::Kind::kValue) {
      fail_at(expr.range, "Unknown type annotation: '", expr.range.text(), "'");
    }
    fail_at(expr.range, "Unknown type name '", expr.range.text(), "'");
  }

  static bool is_size_alias(std::string_view name) {
    constexpr std::string_view kForm = "_size_N_t";
    return name.size() == kForm.size() && name.starts_with("_size_") &&
           name.ends_with("_t") && name[6] >= '1' && name[6] <= '6';
  }

  // Types that need types in brackets.
  static void refuse_bare(std::string_view name, const SourceRange& range) {
    for (std::string_view known : {"List", "list", "Tuple", "tuple", "Optional",
                                   "Future", "Await", "Union"}) {
      if (name == known) {
        fail_at(range, "Attempted to use ", name,
                " without a contained type. Please add a contained type, e.g. ",
                name, "[int]");
      }
    }
    if (name == "Dict" || name == "dict") {
      fail_at(range, "Attempted to use ", name,
              " without contained types. Please add contained type, e.g. ",
              name, "[int, int]");
    }
  }

  std::vector<TypePtr> arguments(const Expr& expr) {
    std::vector<TypePtr> out;
    for (size_t i = 1; i < expr.items.size(); ++i) {
      const Expr& item = expr.item(i);
      // Tuple[()] is the empty tuple.
      if (item.kind == ExprKind::kTuple) {
        if (item.items.empty()) continue;
        fail_at(item.range,
                "Tuple literal in Tuple type annotation must not have any "
                "elements!");
      }
      out.push_back(read(item));
    }
    return out;
  }

  TypePtr generic(const Expr& expr) {
    const Expr& base = expr.item(0);
    if (base.kind != ExprKind::kName && base.kind != ExprKind::kAttribute)
      fail_at(base.range, "Subscripted type must be a type identifier");
    Meaning known = meaning(base);
    std::string_view name = known.kind == Meaning::Kind::kGeneric
                                ? std::string_view(known.text)
                                : base.text;
    check_constructor(name, expr.range);
    std::vector<TypePtr> items = arguments(expr);
    if (name == "Tuple" || name == "tuple")
      return types_.tuple(std::move(items));
    if (name == "Union") return types_.union_of(std::move(items));
    bool pair = name == "Dict" || name == "dict";
    if (items.size() != (pair ? 2u : 1u)) {
      fail_at(expr.range, "expected exactly ",
              pair ? "2 element types" : "one element type", " but found ",
              items.size());
    }
    if (pair) return types_.dict(items[0], items[1]);
    if (name == "List" || name == "list" || name == "Sequence" ||
        name.starts_with("BroadcastingList"))
      return types_.list(items[0]);
    if (name == "Optional") return types_.optional(items[0]);
    if (name == "Future") return types_.future(items[0]);
    if (name == "Await") return types_.awaited(items[0]);
    return items[0];  // Final, Annotated
  }

  static void check_constructor(std::string_view name,
                                const SourceRange& range) {
    for (std::string_view known :
         {"Tuple", "tuple", "Union", "Dict", "dict", "List", "list", "Sequence",
          "Optional", "Future", "Await", "Final", "Annotated"})
      if (name == known) return;
    constexpr std::string_view kBroadcast = "BroadcastingList";
    if (name.starts_with(kBroadcast)) {
      const std::string_view count = name.substr(kBroadcast.size());
      if (count.size() == 1 && count[0] >= '1' && count[0] <= '9') return;
      fail_at(range,
              "subscript of Broadcastable list must be a positive integer");
    }
    fail_at(range, "Unknown type constructor ", name);
  }

  TypeTable& types_;
  const Resolver& resolver_;
  int strings_ = 0;
};

}  // namespace

TypePtr read_type(CompilationUnit& unit, const Resolver& resolver,
                  const Expr& annotation) {
  return AnnotationReader(unit, resolver).read(annotation);
}

}  // namespace hotaru::script
