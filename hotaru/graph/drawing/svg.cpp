#include "hotaru/graph/drawing/svg.h"

#include <cstdio>

#include "hotaru/core/printing/concat.h"

namespace hotaru::graph::svg {
namespace {

/// Bytes of the character of UTF-8 that begins there, 0 if none does.
size_t character(std::string_view text) {
  const auto byte = [&](size_t i) { return uint8_t(text[i]); };
  const uint8_t first = byte(0);
  const size_t n = first < 0x80           ? 1
                   : (first >> 5) == 0x06 ? 2
                   : (first >> 4) == 0x0e ? 3
                   : (first >> 3) == 0x1e ? 4
                                          : 0;
  if (n == 0 || n > text.size()) return 0;
  uint32_t code = n == 1 ? first : first & (0x7fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  // XML has no control characters, surrogates and the like.
  constexpr uint32_t kLeast[] = {0x20, 0x80, 0x800, 0x10000};
  const bool allowed = code >= kLeast[n - 1] && code <= 0x10ffff &&
                       (code < 0xd800 || code > 0xdfff) && code != 0x7f &&
                       code != 0xfffe && code != 0xffff;
  return allowed ? n : 0;
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t n = character(text);
    const char c = text[0];
    if (n == 0)
      out += "?";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

}  // namespace

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

std::string bytes_text(double n) {
  const char* const units[] = {"B", "KB", "MB", "GB"};
  size_t unit = 0;
  for (; n >= 1000 && unit < 3; ++unit) n /= 1000;
  return number(n) + " " + units[unit];
}

std::string shortened(std::string_view name, size_t most) {
  size_t end = 0, count = 0, cut = 0;
  while (end < name.size()) {
    if (++count > most) return concat(name.substr(0, cut), "…");
    if (count == most) cut = end;
    const size_t n = character(name.substr(end));
    end += n == 0 ? 1 : n;
  }
  return std::string(name);
}

std::string text(double x, double y, std::string_view words, int size,
                 const char* anchor, const char* colour) {
  return concat("<text x=\"", number(x), "\" y=\"", number(y),
                "\" font-size=\"", size, "\" text-anchor=\"", anchor,
                "\" fill=\"", colour, "\">", escaped(words), "</text>\n");
}

std::string rectangle(const Frame& at, std::string_view fill,
                      std::string_view stroke, double round) {
  return concat("<rect x=\"", number(at.x), "\" y=\"", number(at.y),
                "\" width=\"", number(at.width), "\" height=\"",
                number(at.height), "\" rx=\"", number(round), "\" fill=\"",
                fill, "\" stroke=\"", stroke, "\"/>\n");
}

std::string document(double width, double height, const std::string& content) {
  return concat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(width),
      "\" height=\"", number(height), "\" viewBox=\"0 0 ", number(width), " ",
      number(height),
      "\" font-family=\"system-ui, sans-serif\">\n<rect width=\"100%\" "
      "height=\"100%\" fill=\"white\"/>\n",
      content, "</svg>\n");
}

}  // namespace hotaru::graph::svg
