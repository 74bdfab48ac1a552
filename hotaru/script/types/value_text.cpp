// How TorchScript shows values: print, str and format.
#include <cmath>
#include <limits>
#include <sstream>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/print.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/types/enum_type.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

namespace {

std::string tensor_text(const Tensor& tensor) {
  std::ostringstream out;
  print_columns(out, tensor);
  return std::move(out).str();
}

// Integral values that fit 64 bits as "3.", others with all their digits.
std::string double_text(double value) {
  constexpr double kLargestPlain = 0x1p63;
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::fabs(value) < kLargestPlain && value == std::trunc(value))
    return concat(int64_t(value), ".");
  std::ostringstream out;
  out.precision(std::numeric_limits<double>::max_digits10);
  out << value;
  return std::move(out).str();
}

template <class Items, class Print>
std::string join(const char* open, const Items& items, const char* close,
                 Print print) {
  std::string out = open;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ", ";
    first = false;
    out += print(item);
  }
  return out + close;
}

}  // namespace

std::string value_text(const Value& value) {
  switch (value.tag()) {
    case Value::Tag::kNone:
      return "None";
    case Value::Tag::kInt:
      return std::to_string(value.as_int());
    case Value::Tag::kDouble:
      return double_text(value.as_double());
    case Value::Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case Value::Tag::kDevice:
      return value.as_device().str();
    case Value::Tag::kComplex: {
      std::complex<double> c = value.as_complex();
      std::string imaginary = double_text(c.imag());
      return double_text(c.real()) + (imaginary[0] == '-' ? "" : "+") +
             imaginary + "j";
    }
    case Value::Tag::kString:
      return value.as_string();
    case Value::Tag::kTensor:
      return tensor_text(value.tensor_ref());
    case Value::Tag::kList:
      return join("[", value.as_list().items, "]", value_text);
    case Value::Tag::kTuple: {
      const auto& items = value.as_tuple().items;
      return join("(", items, items.size() == 1 ? ",)" : ")", value_text);
    }
    case Value::Tag::kDict:
      return join("{", value.as_dict().items, "}", [](const auto& entry) {
        return value_text(entry.first) + ": " + value_text(entry.second);
      });
    case Value::Tag::kInstance: {
      if (const EnumType* type = enum_of(value)) {
        return concat(
            "Enum<", type->name.substr(type->name.rfind('.') + 1), ".",
            value.as_instance().slots[EnumType::kName].as_string(), ">");
      }
      const ClassType* cls = class_of(value);
      return concat("<", cls ? cls->name() : "object", " object>");
    }
    case Value::Tag::kObject:
      return "<object>";
  }
  return {};
}

std::string format_text(std::string_view format, const Value* values,
                        size_t count) {
  constexpr std::string_view kField = "{}";
  std::string out;
  size_t next = 0;
  size_t begin = 0;
  for (size_t at; (at = format.find(kField, begin)) != std::string_view::npos;
       begin = at + kField.size()) {
    HOTARU_CHECK_AS(ValueError, next < count, kFewArguments, format);
    out += format.substr(begin, at - begin);
    out += value_text(values[next++]);
  }
  out += format.substr(begin);
  return out;
}

}  // namespace hotaru::script
