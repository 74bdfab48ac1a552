// Parts of pictures as text of SVG.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hotaru::graph::svg {

inline constexpr const char* kInk = "#24292f";
inline constexpr const char* kPale = "#57606a";

/// With one digit behind the point.
std::string number(double x);
/// "1.5 KB"; units of 1,000.
std::string bytes_text(double n);
/// At most so many characters of a name, "…" for what is left out.
std::string shortened(std::string_view name, size_t most);

/// Words at a point; whatever they hold, the document is valid XML.
std::string text(double x, double y, std::string_view words, int size,
                 const char* anchor = "start", const char* colour = kInk);

struct Frame {
  double x = 0, y = 0, width = 0, height = 0;
};
std::string rectangle(const Frame& at, std::string_view fill,
                      std::string_view stroke, double round = 0);

std::string document(double width, double height, const std::string& content);

}  // namespace hotaru::graph::svg
