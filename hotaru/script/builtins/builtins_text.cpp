// Python's methods of strings that look for parts, cut and fill: of bytes, as
// all of TorchScript's strings are.
#include <algorithm>
#include <cctype>
#include <tuple>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/builtins/builtins.h"

namespace hotaru::script {

namespace {

using Text = const std::string&;
using Three = std::tuple<std::string, std::string, std::string>;

constexpr std::string_view kSpaces = " \t\n\r\f\v";

// text[begin:end], where an end of -1, the default, is that of the text.
struct Part {
  Part(Text text, int64_t start, int64_t stop) {
    const auto size = int64_t(text.size());
    if (stop == -1) stop = size;
    if (start < 0) start = std::max<int64_t>(start + size, 0);
    if (stop < 0) stop += size;
    stop = std::clamp<int64_t>(stop, 0, size);
    exists = start <= stop;
    if (!exists) return;
    begin = start;
    text_ = std::string_view(text).substr(size_t(start), size_t(stop - start));
  }

  // Where something was found in the part, of the whole text; or -1.
  int64_t place(size_t found) const {
    return found == std::string_view::npos ? -1 : begin + int64_t(found);
  }
  int64_t first(Text what) const {
    return exists ? place(text_.find(what)) : -1;
  }
  int64_t last(Text what) const {
    return exists ? place(text_.rfind(what)) : -1;
  }
  int64_t count(Text what) const {
    if (!exists) return 0;
    if (what.empty()) return int64_t(text_.size()) + 1;
    int64_t n = 0;
    for (size_t at = text_.find(what); at != std::string_view::npos;
         at = text_.find(what, at + what.size()))
      ++n;
    return n;
  }
  bool begins_with(Text what) const {
    return exists && text_.starts_with(what);
  }
  bool ends_with(Text what) const { return exists && text_.ends_with(what); }

  bool exists = true;  // the empty text is nowhere in a part that is not
  int64_t begin = 0;
  std::string_view text_;
};

/// Asks a Part about the text that is looked for.
template <auto kAsk>
auto searched(Text text, Text what, int64_t start, int64_t end) {
  return (Part(text, start, end).*kAsk)(what);
}

/// The place that searched() gives, if there is one.
template <auto kAsk>
int64_t found(Text text, Text what, int64_t start, int64_t end) {
  const int64_t place = searched<kAsk>(text, what, start, end);
  HOTARU_CHECK_AS(ValueError, place >= 0, "substring not found");
  return place;
}

void add_searches(BuiltinTable& table) {
  constexpr const char* kRest =
      "(str self, str substr, int start=0, int end=-1) -> ";
  table.add(concat("find", kRest, "int"), &searched<&Part::first>);
  table.add(concat("rfind", kRest, "int"), &searched<&Part::last>);
  table.add(concat("index.str", kRest, "int"), &found<&Part::first>);
  table.add(concat("rindex", kRest, "int"), &found<&Part::last>);
  table.add(concat("count.str", kRest, "int"), &searched<&Part::count>);
  table.add(concat("startswith", kRest, "bool"), &searched<&Part::begins_with>);
  table.add(concat("endswith", kRest, "bool"), &searched<&Part::ends_with>);
  table.add(
      "__contains__.str(str self, str item) -> bool",
      +[](Text s, Text what) { return s.find(what) != std::string::npos; });
}

Three cut(Text text, Text separator, bool from_the_end) {
  HOTARU_CHECK_AS(ValueError, !separator.empty(), "empty separator");
  const size_t at = from_the_end ? text.rfind(separator) : text.find(separator);
  if (at == std::string::npos)
    return from_the_end ? Three("", "", text) : Three(text, "", "");
  return {text.substr(0, at), separator, text.substr(at + separator.size())};
}

// The parts from the last one on.
Value split_from_the_end(Text text, Optional<std::string> separator,
                         int64_t most) {
  std::vector<Value> parts;
  size_t end = text.size();
  const auto full = [&] { return most >= 0 && int64_t(parts.size()) >= most; };
  if (separator) {
    HOTARU_CHECK_AS(ValueError, !separator->empty(), "empty separator");
    for (;;) {
      const size_t at = full() || end < separator->size()
                            ? std::string::npos
                            : text.rfind(*separator, end - separator->size());
      const size_t begin = at == std::string::npos ? 0 : at + separator->size();
      parts.push_back(text.substr(begin, end - begin));
      if (at == std::string::npos) break;
      end = at;
    }
  } else {
    while (end > 0) {
      const size_t last = text.find_last_not_of(kSpaces, end - 1);
      if (last == std::string::npos) break;
      const size_t blank =
          full() ? std::string::npos : text.find_last_of(kSpaces, last);
      // The rest, which keeps the blanks at its front where parts are counted.
      const bool counted = full();
      size_t begin = blank == std::string::npos ? 0 : blank + 1;
      parts.push_back(text.substr(begin, last + 1 - begin));
      if (counted) break;
      end = begin;
    }
  }
  std::reverse(parts.begin(), parts.end());
  return Value::list(std::move(parts));
}

Value lines(Text text, bool with_ends) {
  std::vector<Value> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t at = text.find_first_of("\n\r\v\f\x1c\x1d\x1e", begin);
    size_t next = at == std::string::npos ? text.size() : at + 1;
    if (text.compare(std::min(at, text.size()), 2, "\r\n") == 0) ++next;
    const size_t end = with_ends ? next : std::min(at, text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = next;
  }
  return Value::list(std::move(out));
}

void add_cuts(BuiltinTable& table) {
  table.add(
      "partition(str self, str separator) -> (str, str, str)",
      +[](Text s, Text separator) { return cut(s, separator, false); });
  table.add(
      "rpartition(str self, str separator) -> (str, str, str)",
      +[](Text s, Text separator) { return cut(s, separator, true); });
  table.add("rsplit(str self, str? separator=None, int max=-1) -> str[]",
            &split_from_the_end);
  table.add("splitlines(str self, bool keepends=False) -> str[]", &lines);
  table.add(
      "removeprefix(str self, str prefix) -> str", +[](Text s, Text prefix) {
        return s.starts_with(prefix) ? s.substr(prefix.size()) : s;
      });
  table.add(
      "removesuffix(str self, str suffix) -> str", +[](Text s, Text suffix) {
        return s.ends_with(suffix) ? s.substr(0, s.size() - suffix.size()) : s;
      });
}

// How many characters are to be added for that width, and which.
std::string filling(Text text, int64_t width, Text fill) {
  constexpr int64_t kLimit = int64_t{1} << 28;
  HOTARU_CHECK_AS(TypeError, fill.size() == 1,
                  "The fill character must be exactly one character long");
  HOTARU_CHECK(width <= kLimit, "a string of ", width,
               " characters is too long");
  const int64_t missing = width - int64_t(text.size());
  return std::string(missing > 0 ? size_t(missing) : 0, fill[0]);
}

std::string with_tabs_as_blanks(Text text, int64_t size) {
  std::string out;
  int64_t column = 0;
  for (const char c : text) {
    if (c != '\t') {
      out += c;
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    } else if (size > 0) {
      const int64_t blanks = size - column % size;
      out += filling("", blanks, " ");
      column += blanks;
    }
  }
  return out;
}

void add_fillings(BuiltinTable& table) {
  table.add(
      "ljust(str self, int width, str fillchar=' ') -> str",
      +[](Text s, int64_t width, Text fill) {
        return s + filling(s, width, fill);
      });
  table.add(
      "rjust(str self, int width, str fillchar=' ') -> str",
      +[](Text s, int64_t width, Text fill) {
        return filling(s, width, fill) + s;
      });
  table.add(
      "center(str self, int width, str fillchar=' ') -> str",
      +[](Text s, int64_t width, Text fill) {
        const std::string both = filling(s, width, fill);
        // The odd one stands where Python has it.
        const size_t left = both.size() / 2 + (both.size() & size_t(width) & 1);
        return both.substr(0, left) + s + both.substr(left);
      });
  table.add(
      "zfill(str self, int width) -> str", +[](Text s, int64_t width) {
        const size_t sign = !s.empty() && (s[0] == '+' || s[0] == '-');
        return s.substr(0, sign) + filling(s, width, "0") + s.substr(sign);
      });
  table.add("expandtabs(str self, int tabsize=8) -> str", &with_tabs_as_blanks);
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool has_letter(Text text) {
  return std::any_of(text.begin(), text.end(), is_letter);
}
char raised(char c) {
  return char(std::toupper(static_cast<unsigned char>(c)));
}
char lowered(char c) {
  return char(std::tolower(static_cast<unsigned char>(c)));
}

// Each letter raised where raise(whether a letter is before it, its place).
template <class Raise>
std::string cased(Text text, const Raise& raise) {
  std::string out = text;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = raise(i > 0 && is_letter(text[i - 1]), i) ? raised(text[i])
                                                       : lowered(text[i]);
  return out;
}

std::string title(Text text) {
  return cased(text, [](bool within, size_t) { return !within; });
}

template <class F>
bool all_are(Text text, const F& test) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return test(static_cast<unsigned char>(c)) != 0;
  });
}

template <int (*kTest)(int)>
bool some_and_all(Text text) {
  return !text.empty() && all_are(text, kTest);
}

bool is_name(Text text) {
  const auto part = [](int c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && all_are(text, part) &&
         !std::isdigit(static_cast<unsigned char>(text[0]));
}

void add_cases(BuiltinTable& table) {
  table.add("title(str self) -> str", &title);
  table.add(
      "capitalize(str self) -> str",
      +[](Text s) { return cased(s, [](bool, size_t i) { return i == 0; }); });
  table.add(
      "casefold(str self) -> str",
      +[](Text s) { return cased(s, [](bool, size_t) { return false; }); });
  table.add(
      "swapcase(str self) -> str", +[](Text s) {
        return cased(s, [&s](bool, size_t i) { return raised(s[i]) != s[i]; });
      });
  // Text that has letters, and is as the case has it.
  table.add(
      "istitle(str self) -> bool",
      +[](Text s) { return has_letter(s) && s == title(s); });
  table.add(
      "isupper(str self) -> bool", +[](Text s) {
        return has_letter(s) &&
               all_are(s, [](int c) { return !std::islower(c); });
      });
  table.add(
      "islower(str self) -> bool", +[](Text s) {
        return has_letter(s) &&
               all_are(s, [](int c) { return !std::isupper(c); });
      });
}

void add_kinds(BuiltinTable& table) {
  table.add("isdigit(str self) -> bool", &some_and_all<std::isdigit>);
  table.add("isdecimal(str self) -> bool", &some_and_all<std::isdigit>);
  table.add("isnumeric(str self) -> bool", &some_and_all<std::isdigit>);
  table.add("isalpha(str self) -> bool", &some_and_all<std::isalpha>);
  table.add("isalnum(str self) -> bool", &some_and_all<std::isalnum>);
  table.add("isspace(str self) -> bool", &some_and_all<std::isspace>);
  table.add("isidentifier(str self) -> bool", &is_name);
  table.add(
      "isprintable(str self) -> bool",
      +[](Text s) { return all_are(s, ::isprint); });
  table.add(
      "isascii(str self) -> bool",
      +[](Text s) { return all_are(s, [](int c) { return c < 128; }); });
}

// A number in a base that is a power of two, as Python writes it.
std::string in_base(int64_t number, int bits, const char* mark) {
  auto rest = uint64_t(number);
  if (number < 0) rest = 0 - rest;
  std::string digits;
  do {
    digits += "0123456789abcdef"[rest & ((1u << bits) - 1)];
    rest >>= bits;
  } while (rest > 0);
  std::reverse(digits.begin(), digits.end());
  return concat(number < 0 ? "-" : "", mark, digits);
}

}  // namespace

void add_text_builtins(BuiltinTable& table) {
  add_searches(table);
  add_cuts(table);
  add_fillings(table);
  add_cases(table);
  add_kinds(table);
  table.add(
      "hex.int(int i) -> str", +[](int64_t i) { return in_base(i, 4, "0x"); });
  table.add(
      "oct.int(int i) -> str", +[](int64_t i) { return in_base(i, 3, "0o"); });
  table.add(
      "bin.int(int i) -> str", +[](int64_t i) { return in_base(i, 1, "0b"); });
}

}  // namespace hotaru::script
