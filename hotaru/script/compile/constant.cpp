#include "hotaru/script/compile/constant.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "hotaru/script/program/unit.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

std::string without_underscores(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '_') out.push_back(c);
  return out;
}

Value read_int(const Expr& literal) {
  std::string digits = without_underscores(literal.text);
  int base = 10;
  size_t skip = 0;
  if (digits.size() > 2 && digits[0] == '0' && !std::isdigit(digits[1])) {
    base = digits[1] == 'x' || digits[1] == 'X'   ? 16
           : digits[1] == 'o' || digits[1] == 'O' ? 8
                                                  : 2;
    skip = 2;
  }
  // As unsigned, so that -9223372036854775808 can be spelled.
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data() + skip, end, value, base);
  if (error != std::errc() || stop != end || value > uint64_t{1} << 63)
    fail_at(literal.range, "the integer does not fit 64 bits");
  return int64_t(value);
}

double read_double(std::string_view text, const SourceRange& range) {
  std::string digits = without_underscores(text);
  double value = 0;
  const char* end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) {
    // Too large becomes infinite and too small zero, as in Python.
    return std::strtod(digits.c_str(), nullptr);
  }
  if (error != std::errc() || stop != end) fail_at(range, "malformed number");
  return value;
}

Value negated(const Value& value, const SourceRange& range) {
  if (value.is_int()) return int64_t(-uint64_t(value.as_int()));
  if (value.is_double()) return -value.as_double();
  if (value.is_complex()) return -value.as_complex();
  fail_at(range, "only numbers can be negated");
}

class ConstantReader {
 public:
  explicit ConstantReader(CompilationUnit& unit) : unit_(unit) {}

  Value read(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kInt:
      case ExprKind::kFloat:
      case ExprKind::kImaginary:
        return read_number(expr);
      case ExprKind::kString:
        return std::string(expr.text);
      case ExprKind::kTrue:
        return true;
      case ExprKind::kFalse:
        return false;
      case ExprKind::kNone:
        return {};
      case ExprKind::kList:
        return Value::list(items(expr));
      case ExprKind::kTuple:
        return Value::tuple(items(expr));
      case ExprKind::kDict: {
        auto dict = make_ref<DictObject>();
        for (size_t i = 0; i + 1 < expr.items.size(); i += 2)
          dict->set(read(expr.item(i)), read(expr.item(i + 1)));
        return dict;
      }
      case ExprKind::kUnary:
        if (expr.op == "-") return negated(read(expr.item(0)), expr.range);
        break;
      case ExprKind::kBinary:
        if (expr.op == "+" || expr.op == "-") return complex(expr);
        break;
      case ExprKind::kName:
      case ExprKind::kAttribute:
      case ExprKind::kCall:
        return named(expr);
      default:
        break;
    }
    fail_at(expr.range, "expected a constant");
  }

 private:
  std::vector<Value> items(const Expr& expr) {
    std::vector<Value> out;
    out.reserve(expr.items.size());
    for (const Expr* item : expr.items) out.push_back(read(*item));
    return out;
  }

  // 1.0+2.0j, the only sum that is a literal.
  Value complex(const Expr& expr) {
    Value left = read(expr.item(0));
    Value right = read(expr.item(1));
    if (!right.is_complex() || !(left.is_int() || left.is_double()))
      fail_at(expr.range, "expected a constant");
    const double imaginary = right.as_complex().imag();
    return std::complex<double>(left.to_double(),
                                expr.op == "-" ? -imaginary : imaginary);
  }

  Value named(const Expr& expr) {
    if (expr.kind == ExprKind::kCall) {
      if (expr.item(0).kind == ExprKind::kName &&
          expr.item(0).text == "annotate" && expr.items.size() == 3)
        return read(expr.item(2));
      if (expr.item(0).kind == ExprKind::kName &&
          expr.item(0).text == "float" && expr.items.size() == 2 &&
          expr.item(1).kind == ExprKind::kString)
        return read_special_float(expr.item(1));
      if (expr.item(0).text == "Complex" && expr.items.size() == 3) {
        return std::complex<double>(read(expr.item(1)).to_double(),
                                    read(expr.item(2)).to_double());
      }
      if (expr.item(0).text == "device" && expr.items.size() == 2 &&
          expr.item(1).kind == ExprKind::kString)
        return Device::parse(expr.item(1).text);
      fail_at(expr.range, "expected a constant");
    }
    Meaning known = meaning(expr);
    if (known.kind != Meaning::Kind::kValue)
      fail_at(expr.range, "expected a constant");
    return known.value;
  }

  Meaning meaning(const Expr& expr) {
    const Resolver& resolver = unit_.resolver();
    if (expr.kind == ExprKind::kName) return resolver.name(expr.text);
    if (expr.kind != ExprKind::kAttribute) return {};
    Meaning parent = meaning(expr.item(0));
    if (parent.kind == Meaning::Kind::kNamespace ||
        parent.kind == Meaning::Kind::kConstants)
      return resolver.attribute(parent, expr.text);
    if (parent.kind != Meaning::Kind::kType ||
        parent.type->kind != TypeKind::kEnum)
      return {};
    int i = parent.type->enumeration->find_name(expr.text);
    if (i < 0) return {};
    return {.kind = Meaning::Kind::kValue,
            .value = enum_member(*parent.type->enumeration, i)};
  }

  static Value read_special_float(const Expr& text) {
    if (text.text == "inf") return std::numeric_limits<double>::infinity();
    if (text.text == "-inf") return -std::numeric_limits<double>::infinity();
    if (text.text == "nan") return std::numeric_limits<double>::quiet_NaN();
    return read_double(text.text, text.range);
  }

  CompilationUnit& unit_;
};

}  // namespace

Value read_number(const Expr& literal) {
  if (literal.kind == ExprKind::kInt) return read_int(literal);
  if (literal.kind == ExprKind::kFloat)
    return read_double(literal.text, literal.range);
  std::string_view digits = literal.text;
  digits.remove_suffix(1);
  return std::complex<double>(0, read_double(digits, literal.range));
}

Value read_constant(CompilationUnit& unit, const Expr& expr, TypePtr type) {
  Value value = ConstantReader(unit).read(expr);
  if (type && !convert_value(value, type)) {
    fail_at(expr.range, "the value is of type '", value.type_name(), "', but '",
            type->annotation(), "' is declared");
  }
  return value;
}

bool convert_value(Value& value, TypePtr type) {
  if (const EnumType* own = enum_of(value); own && own->by_value) {
    // A copy: the slot goes with the member.
    Value plain = value.as_instance().slots[EnumType::kValue];
    if (value_matches(plain, type)) value = std::move(plain);
  }
  switch (type->kind) {
    case TypeKind::kEnum:
      return convert_enum(value, *type->enumeration);
    case TypeKind::kBool:
      if (value.is_int() || value.is_double()) value = value.to_double() != 0;
      break;
    case TypeKind::kInt:
      if (value.is_bool()) value = int64_t{value.as_bool()};
      break;
    case TypeKind::kFloat:
      if (value.is_int()) value = double(value.as_int());
      if (value.is_bool()) value = double(value.as_bool());
      break;
    case TypeKind::kComplex:
      if (value.is_int() || value.is_double())
        value = std::complex<double>(value.to_double(), 0);
      break;
    case TypeKind::kOptional:
      return value.is_none() || convert_value(value, type->item());
    case TypeKind::kDevice:
      if (value.is_string()) value = Device::parse(value.as_string());
      break;
    case TypeKind::kList: {
      if (value_matches(value, type)) return true;
      if (!value.is_tuple() && !value.is_list()) return false;
      std::vector<Value> items =
          value.is_tuple() ? value.as_tuple().items : value.as_list().items;
      for (Value& item : items)
        if (!convert_value(item, type->item())) return false;
      value = Value::list(std::move(items));
      return true;
    }
    case TypeKind::kDict: {
      if (value_matches(value, type)) return true;
      if (!value.is_dict()) return false;
      auto out = make_ref<DictObject>();
      for (const auto& [key, item] : value.as_dict().items) {
        Value new_key = key;
        Value new_item = item;
        if (!convert_value(new_key, type->items[0]) ||
            !convert_value(new_item, type->items[1]))
          return false;
        out->items.emplace_back(std::move(new_key), std::move(new_item));
      }
      value = std::move(out);
      return true;
    }
    case TypeKind::kTuple: {
      if (value_matches(value, type)) return true;
      if (!value.is_tuple() ||
          value.as_tuple().items.size() != type->items.size())
        return false;
      std::vector<Value> items = value.as_tuple().items;
      for (size_t i = 0; i < items.size(); ++i)
        if (!convert_value(items[i], type->items[i])) return false;
      value = Value::tuple(std::move(items));
      return true;
    }
    default:
      break;
  }
  return value_matches(value, type);
}

}  // namespace hotaru::script
