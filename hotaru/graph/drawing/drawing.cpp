#include "hotaru/graph/drawing/drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hotaru/core/error.h"

namespace hotaru::graph {
namespace {

constexpr double kBoxWidth = 190, kBoxHeight = 34, kGapX = 26, kGapY = 24;
constexpr double kMargin = 24, kTitle = 34;
constexpr const char* kInk = "#24292f";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

/// "1.5 KB"; units of 1,000.
std::string bytes_text(double n) {
  const char* const units[] = {"B", "KB", "MB", "GB"};
  size_t unit = 0;
  for (; n >= 1000 && unit < 3; ++unit) n /= 1000;
  return number(n) + " " + units[unit];
}

std::string text(double x, double y, const std::string& words, int size,
                 const char* anchor = "start", const char* colour = kInk) {
  return concat("<text x=\"", number(x), "\" y=\"", number(y),
                "\" font-size=\"", size, "\" text-anchor=\"", anchor,
                "\" fill=\"", colour, "\">", escaped(words), "</text>\n");
}

/// As much of a name as a box takes.
std::string shortened(const std::string& name) {
  constexpr size_t kMost = 27;
  return name.size() <= kMost ? name : name.substr(0, kMost - 1) + "…";
}

/// From white to orange by the share of the time.
std::string heat(double share) {
  const double t = std::min(1.0, std::sqrt(std::max(0.0, share)));
  const auto mix = [t](int from, int to) {
    return int(std::lround(from + (to - from) * t));
  };
  char colour[32];
  std::snprintf(colour, sizeof colour, "#%02x%02x%02x", mix(246, 235),
                mix(248, 120), mix(250, 40));
  return colour;
}

struct Place {
  double x, y;
};

/// Rows by depth; within a row in the order of the nodes.
std::vector<Place> places(const Description& graph, double& width,
                          double& height) {
  std::vector<size_t> depth(graph.nodes.size()), filled;
  std::vector<Place> out;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const size_t before : graph.nodes[n].after)
      depth[n] = std::max(depth[n], depth[before] + 1);
    filled.resize(std::max(filled.size(), depth[n] + 1));
    out.push_back({double(filled[depth[n]]++) * (kBoxWidth + kGapX),
                   kTitle + double(depth[n]) * (kBoxHeight + kGapY)});
  }
  const size_t widest =
      filled.empty() ? 1 : *std::max_element(filled.begin(), filled.end());
  width = double(widest) * (kBoxWidth + kGapX) - kGapX;
  height = kTitle + double(filled.size()) * (kBoxHeight + kGapY);
  for (size_t n = 0; n < out.size(); ++n)
    out[n].x += double(widest - filled[depth[n]]) * (kBoxWidth + kGapX) / 2;
  return out;
}

std::string edges(const Description& graph, const std::vector<Place>& at) {
  std::string out;
  for (size_t n = 0; n < at.size(); ++n)
    for (const size_t before : graph.nodes[n].after) {
      const double x1 = at[before].x + kBoxWidth / 2;
      const double y1 = at[before].y + kBoxHeight;
      const double x2 = at[n].x + kBoxWidth / 2, y2 = at[n].y;
      const double bend = std::max(kGapY / 2, (y2 - y1) / 2);
      // Lines past other nodes swing out, so as not to run behind them.
      const bool far = y2 - y1 > kGapY + 1 && std::abs(x1 - x2) < 1;
      const double swing = far ? kBoxWidth / 2 + kGapX / 2 : 0;
      out += concat("<path d=\"M", number(x1), " ", number(y1), " C",
                    number(x1 + swing), " ", number(y1 + bend), " ",
                    number(x2 + swing), " ", number(y2 - bend), " ", number(x2),
                    " ", number(y2), "\" fill=\"none\" stroke=\"#8c959f\"/>\n");
    }
  return out;
}

std::string boxes(const Drawing& drawing, const std::vector<Place>& at) {
  std::string out;
  for (size_t n = 0; n < at.size(); ++n) {
    const NodeInfo& node = drawing.graph->nodes[n];
    const double share = drawing.shares.empty() ? 0 : drawing.shares[n];
    out +=
        concat("<rect x=\"", number(at[n].x), "\" y=\"", number(at[n].y),
               "\" width=\"", kBoxWidth, "\" height=\"", kBoxHeight,
               "\" rx=\"5\" fill=\"", heat(share), "\" stroke=\"#57606a\"/>\n");
    out += text(at[n].x + 8, at[n].y + 15, shortened(node.name), 12);
    out += text(at[n].x + 8, at[n].y + 28, node.result, 9, "start", "#57606a");
    if (!drawing.shares.empty())
      out += text(at[n].x + kBoxWidth - 8, at[n].y + 28,
                  number(100 * share) + " %", 10, "end");
  }
  return out;
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

}  // namespace

std::string draw_graphs(const std::vector<Drawing>& drawings) {
  std::string content;
  double x = kMargin, height = 0;
  for (const Drawing& drawing : drawings) {
    double w = 0, h = 0;
    const std::vector<Place> at = places(*drawing.graph, w, h);
    content += concat("<g transform=\"translate(", number(x), " ", kMargin,
                      ")\">\n", text(0, 14, drawing.title, 15));
    content += edges(*drawing.graph, at) + boxes(drawing, at) + "</g>\n";
    x += w + 3 * kMargin;
    height = std::max(height, h);
  }
  return document(x - kMargin, height + 2 * kMargin, content);
}

std::string draw_memory(const MemoryPlan& plan, const Description& graph) {
  constexpr double kWidth = 860, kHeight = 320, kLeft = 20, kTop = 52;
  const double steps = double(std::max<size_t>(1, graph.nodes.size()));
  const double bytes = double(std::max<size_t>(1, plan.nbytes));
  std::string content =
      text(kLeft, 22, "Memory of intermediate values", 15) +
      text(kLeft, 40,
           concat(bytes_text(double(plan.nbytes)), " for values of ",
                  bytes_text(double(plan.total)), " together; at most ",
                  bytes_text(double(plan.peak)), " alive at a time"),
           11, "start", "#57606a");
  for (const Placement& value : plan.placements) {
    const double x = kLeft + kWidth * double(value.first) / steps;
    const double w = kWidth * double(value.last - value.first + 1) / steps;
    const double h = kHeight * double(value.nbytes) / bytes;
    const double y = kTop + kHeight * (1 - double(value.offset) / bytes) - h;
    content +=
        concat("<rect x=\"", number(x), "\" y=\"", number(y), "\" width=\"",
               number(w), "\" height=\"", number(std::max(1.0, h)),
               "\" fill=\"#9ec5f0\" stroke=\"white\"/>\n");
    if (h > 12 && w > 60)
      content += text(x + 4, y + h / 2 + 4, graph.nodes[value.first].name, 10);
  }
  content +=
      concat("<path d=\"M", kLeft, " ", kTop, " V", kTop + kHeight, " H",
             kLeft + kWidth, "\" fill=\"none\" stroke=\"", kInk, "\"/>\n");
  content += text(kLeft + kWidth, kTop + kHeight + 18, "nodes, in order", 11,
                  "end", "#57606a");
  return document(kWidth + 2 * kLeft, kTop + kHeight + 34, content);
}

}  // namespace hotaru::graph
