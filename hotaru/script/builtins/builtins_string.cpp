// Strings: their making, formats and items.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

namespace {

using Text = const std::string&;

constexpr std::string_view kBlank = " \t\n\r\f\v";

int64_t wrapped(int64_t index, size_t size) {
  int64_t length = int64_t(size);
  int64_t at = index < 0 ? index + length : index;
  HOTARU_CHECK_AS(IndexError, at >= 0 && at < length,
                  "string index out of range");
  return at;
}

// PyTorch's default set lacks a carriage return, which Python's has.
std::string strip(const std::string& text, const std::string& set, bool left,
                  bool right) {
  std::string_view chars = set == " \n\t\f\v" ? kBlank : std::string_view(set);
  size_t begin = left ? text.find_first_not_of(chars) : 0;
  if (begin == std::string::npos) return {};
  size_t end = right ? text.find_last_not_of(chars) : text.size() - 1;
  if (end == std::string::npos) return {};
  return text.substr(begin, end - begin + 1);
}

Value split(const std::string& text, Optional<std::string> separator,
            int64_t most) {
  std::vector<Value> out;
  size_t pos = 0;
  auto full = [&] { return most >= 0 && int64_t(out.size()) >= most; };
  if (!separator) {
    for (;;) {
      pos = text.find_first_not_of(kBlank, pos);
      if (pos == std::string::npos) return Value::list(std::move(out));
      size_t end = full() ? std::string::npos : text.find_first_of(kBlank, pos);
      out.push_back(text.substr(pos, end - pos));
      if (end == std::string::npos) return Value::list(std::move(out));
      pos = end;
    }
  }
  HOTARU_CHECK_AS(ValueError, !separator->empty(), "empty separator");
  for (;;) {
    size_t end = full() ? std::string::npos : text.find(*separator, pos);
    out.push_back(text.substr(pos, end - pos));
    if (end == std::string::npos) return Value::list(std::move(out));
    pos = end + separator->size();
  }
}

std::string replaced(Text text, Text from, Text to, int64_t most) {
  std::string out;
  size_t pos = 0;
  if (from.empty()) {  // before each character and at the end
    for (int64_t n = 0; most < 0 || n < most; ++n) {
      out += to;
      if (pos == text.size()) return out;
      out += text[pos++];
    }
    return out + text.substr(pos);
  }
  for (int64_t n = 0; most < 0 || n < most; ++n) {
    size_t found = text.find(from, pos);
    if (found == std::string::npos) break;
    out += text.substr(pos, found - pos) + to;
    pos = found + from.size();
  }
  return out + text.substr(pos);
}

std::string sliced(Text text, Optional<int64_t> begin, Optional<int64_t> end,
                   int64_t step) {
  std::string out;
  for (size_t i : slice_places(text.size(), begin, end, step)) out += text[i];
  return out;
}

bool value_is_char(const Value& value) {
  return value.is_string() && value.as_string().size() == 1;
}

// As PyTorch's messages call a value that is no number.
std::string_view kind_name(const Value& value) {
  if (value.is_string()) return "String";
  if (value.is_tensor()) return "Tensor";
  if (value.is_none()) return "None";
  return value.type_name();
}

// A number in the notation that Python has of the same letter.
std::string formatted(char kind, const Value& value) {
  std::ostringstream number;
  if (kind == 'd' || kind == 'i') {
    if (!value.is_double()) return std::to_string(value.as_scalar().to_int());
    const double whole = std::trunc(value.to_double());
    if (!std::isfinite(whole))
      fail_to_integer<ValueError>(std::isnan(whole) ? "NaN" : "infinity");
    number << std::fixed << std::setprecision(0) << whole + 0.0;  // no "-0"
    return number.str();
  }
  if (kind == 'f' || kind == 'F') number << std::fixed;
  if (kind == 'e' || kind == 'E') number << std::scientific;
  if (kind == 'E' || kind == 'G') number << std::uppercase;
  number << value.to_double();
  return number.str();
}

// "%d of %s" % values; only %s, %c, %d, %i, %e, %f, %g and %%.
std::string percent_format(Text format, const Value& values) {
  std::vector<Value> items =
      values.is_tuple() ? values.as_tuple().items : std::vector<Value>{values};
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    HOTARU_CHECK_AS(ValueError, i + 1 < format.size(),
                    "Incomplete format specifier");
    char kind = format[++i];
    if (kind == '%') {
      out.push_back('%');
      continue;
    }
    HOTARU_CHECK_AS(ValueError, next < items.size(), kFewArguments, format);
    const Value& value = items[next++];
    if (kind == 's') {
      out += value_text(value);
    } else if (kind == 'c') {
      HOTARU_CHECK(value.is_int() || value_is_char(value),
                   "%c requires an int or char for formatting, but got ",
                   kind_name(value));
      out += value.is_int() ? std::string(1, char(value.as_int()))
                            : value.as_string();
    } else if (std::string_view("dieEfFgG").find(kind) !=
               std::string_view::npos) {
      HOTARU_CHECK(value.is_number(), "%", kind,
                   " requires a number for formatting, but got ",
                   kind_name(value));
      out += formatted(kind, value);
    } else {
      fail<ValueError>("The specifier %", kind,
                       " is not supported in TorchScript format strings");
    }
  }
  HOTARU_CHECK_AS(ValueError, next == items.size(),
                  "Too many arguments for format string: ", format);
  return out;
}

template <class F>
std::string mapped(Text text, F change) {
  std::string out = text;
  for (char& c : out) c = char(change(static_cast<unsigned char>(c)));
  return out;
}

void add_changes(BuiltinTable& table) {
  constexpr const char* kBlanks = "(str self, str chars=' \n\t\f\v') -> str";
  table.add(
      "upper(str self) -> str", +[](Text s) { return mapped(s, ::toupper); });
  table.add(
      "lower(str self) -> str", +[](Text s) { return mapped(s, ::tolower); });
  table.add(
      concat("strip", kBlanks),
      +[](Text s, Text c) { return strip(s, c, true, true); });
  table.add(
      concat("lstrip", kBlanks),
      +[](Text s, Text c) { return strip(s, c, true, false); });
  table.add(
      concat("rstrip", kBlanks),
      +[](Text s, Text c) { return strip(s, c, false, true); });
  table.add("replace(str self, str old, str new, int max=-1) -> str",
            &replaced);
  table.add("split.str(str self, str? separator=None, int max=-1) -> str[]",
            &split);
  table.add(
      "join(str self, str[] values) -> str",
      +[](Text self, const Value& values) {
        std::string out;
        for (const Value& item : values.as_list().items) {
          if (&item != &values.as_list().items.front()) out += self;
          out += item.as_string();
        }
        return out;
      });
}

}  // namespace

void add_string_builtins(BuiltinTable& table) {
  table.add(
      "len.str(str s) -> int", +[](Text s) { return int64_t(s.size()); });
  table.add(
      "add.str(str a, str b) -> str", +[](Text a, Text b) { return a + b; });
  table.add(
      "mul.str_int(str a, int b) -> str", +[](Text a, int64_t n) {
        constexpr int64_t kLimit = int64_t{1} << 28;
        HOTARU_CHECK(n <= 0 || int64_t(a.size()) <= kLimit / n,
                     "the repeated string is too long");
        std::string out;
        for (int64_t i = 0; i < n; ++i) out += a;
        return out;
      });
  table.add(
      "__getitem__.str(str s, int index) -> str", +[](Text s, int64_t i) {
        return std::string(1, s[size_t(wrapped(i, s.size()))]);
      });
  table.add(
      "slice.str(str s, int? start=None, int? end=None, int step=1) "
      "-> str",
      &sliced);
  table.add(
      "str(Any elem) -> str",
      +[](const Value& value) { return value_text(value); });
  table.add(
      "ord(str s) -> int", +[](Text s) -> int64_t {
        HOTARU_CHECK_AS(TypeError, s.size() == 1,
                        "ord() expected a character, but a string of length ",
                        s.size(), " was found");
        return static_cast<unsigned char>(s[0]);
      });
  table.add(
      "chr(int i) -> str", +[](int64_t i) {
        HOTARU_CHECK_AS(ValueError, i >= 0 && i < 256,
                        "chr() arg not in range(256)");
        return std::string(1, char(i));
      });
  table.add("percentFormat(str self, Any values) -> str", &percent_format);
  add_changes(table);
  add_text_builtins(table);
}

}  // namespace hotaru::script
