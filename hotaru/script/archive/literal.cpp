#include "hotaru/script/archive/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

constexpr std::string_view kKeywords[] = {
    "False",  "None",   "True",    "and",      "as",       "assert", "async",
    "await",  "break",  "class",   "continue", "def",      "del",    "elif",
    "else",   "except", "finally", "for",      "from",     "global", "if",
    "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
    "pass",   "raise",  "return",  "try",      "while",    "with",   "yield",
};

using Stored = std::function<std::string(const Value&)>;

// The shortest text that reads back as the same number, with a point or an
// exponent, or it would be an integer.
std::string real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  bool whole = text.find_first_of(".e") == std::string::npos;
  return whole ? text + "." : text;
}

// A sum, or a call where a sum would lose the sign of a zero or has no form.
std::string complex_number(std::complex<double> value) {
  std::string imaginary = real(value.imag());
  const auto minus_zero = [](double x) { return x == 0 && std::signbit(x); };
  if (!std::isfinite(value.imag()) || minus_zero(value.real()) ||
      minus_zero(value.imag()))
    return concat("torch.Complex(", real(value.real()), ", ", imaginary, ")");
  const char* sign = imaginary[0] == '-' ? "" : "+";
  return concat(real(value.real()), sign, imaginary, "j");
}

template <class Items, class Print>
std::string joined(const Items& items, const Print& print) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    out += print(items[i], i);
  }
  return out;
}

std::string list(const Value& value, TypePtr type, const Stored& stored) {
  const std::vector<Value>& items = value.as_list().items;
  std::string text = concat("[",
                            joined(items,
                                   [&](const Value& item, size_t) {
                                     return literal(item, type->item(), stored);
                                   }),
                            "]");
  return concat("annotate(", type->annotation(), ", ", text, ")");
}

std::string dict(const Value& value, TypePtr type, const Stored& stored) {
  std::string text = joined(
      value.as_dict().items, [&](const std::pair<Value, Value>& item, size_t) {
        return concat(literal(item.first, type->items[0], stored), ": ",
                      literal(item.second, type->items[1], stored));
      });
  return concat("annotate(", type->annotation(), ", {", text, "})");
}

std::string tuple(const Value& value, TypePtr type, const Stored& stored) {
  const std::vector<Value>& items = value.as_tuple().items;
  std::string text = joined(items, [&](const Value& item, size_t i) {
    return literal(item, type->items[i], stored);
  });
  if (!type->name.empty()) return concat(type->name, "(", text, ")");
  return concat("(", text, items.size() == 1 ? ",)" : ")");
}

}  // namespace

bool is_identifier(std::string_view text) {
  auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  auto word = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), word) &&
         std::find(std::begin(kKeywords), std::end(kKeywords), text) ==
             std::end(kKeywords);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      auto digit = [&](int shift) { return char('0' + (byte >> shift & 7)); };
      out += {'\\', digit(6), digit(3), digit(0)};
    }
  }
  return out + "\"";
}

std::string escape_format(std::string_view text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '{' || c == '}') out += c;
  }
  return out;
}

std::string literal(const Value& value, TypePtr type, const Stored& stored) {
  if (type->kind == TypeKind::kOptional && !value.is_none())
    type = type->item();
  switch (value.tag()) {
    case Value::Tag::kNone:
      return "None";
    case Value::Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case Value::Tag::kInt:
      return type->kind == TypeKind::kFloat ? real(double(value.as_int()))
                                            : concat(value.as_int());
    case Value::Tag::kDouble:
      return real(value.as_double());
    case Value::Tag::kComplex:
      return complex_number(value.as_complex());
    case Value::Tag::kString:
      return quoted(std::string_view(value.as_string()));
    case Value::Tag::kDevice:
      return concat("torch.device(", quoted(value.as_device().str()), ")");
    case Value::Tag::kTensor:
      return stored(value);
    case Value::Tag::kList:
      if (type->kind == TypeKind::kList) return list(value, type, stored);
      break;
    case Value::Tag::kDict:
      if (type->kind == TypeKind::kDict) return dict(value, type, stored);
      break;
    case Value::Tag::kTuple:
      if (type->kind == TypeKind::kTuple) return tuple(value, type, stored);
      break;
    case Value::Tag::kInstance:
      if (const EnumType* known = enum_of(value)) {
        return concat(known->name, ".",
                      value.as_instance().slots[EnumType::kName].as_string());
      }
      break;
    default:
      break;
  }
  fail<TypeError>("a constant of type '", type->annotation(),
                  "' has no form in TorchScript source");
}

}  // namespace hotaru::script
