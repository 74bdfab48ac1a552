#include "hotaru/graph/drawing/drawing.h"

#include <algorithm>

#include "hotaru/core/printing/concat.h"
#include "hotaru/graph/drawing/boxes.h"
#include "hotaru/graph/drawing/svg.h"

namespace hotaru::graph {

using svg::bytes_text;

std::string draw_graphs(const std::vector<Drawing>& drawings) {
  std::vector<Sheet> sheets;
  for (const Drawing& drawing : drawings) {
    Sheet& sheet = sheets.emplace_back(Sheet{drawing.title, {}});
    for (size_t n = 0; n < drawing.graph->nodes.size(); ++n) {
      const NodeInfo& node = drawing.graph->nodes[n];
      Box box{.name = node.name, .notes = {node.result}, .after = node.after};
      if (!drawing.shares.empty()) box.share = drawing.shares[n];
      sheet.boxes.push_back(std::move(box));
    }
  }
  return draw_sheets(sheets);
}

std::string draw_memory(const MemoryPlan& plan, const Description& graph) {
  constexpr double kWidth = 860, kHeight = 320, kLeft = 20, kTop = 52;
  const double steps = double(std::max<size_t>(1, graph.nodes.size()));
  const double bytes = double(std::max<size_t>(1, plan.nbytes));
  std::string content =
      svg::text(kLeft, 22, "Memory of intermediate values", 15) +
      svg::text(kLeft, 40,
                concat(bytes_text(double(plan.nbytes)), " for values of ",
                       bytes_text(double(plan.total)), " together; at most ",
                       bytes_text(double(plan.peak)), " alive at a time"),
                11, "start", svg::kPale);
  for (const Placement& value : plan.placements) {
    const double x = kLeft + kWidth * double(value.first) / steps;
    const double w = kWidth * double(value.last - value.first + 1) / steps;
    const double h = kHeight * double(value.nbytes) / bytes;
    const double y = kTop + kHeight * (1 - double(value.offset) / bytes) - h;
    content += svg::rectangle({x, y, w, std::max(1.0, h)}, "#9ec5f0", "white");
    if (h > 12 && w > 60)
      content +=
          svg::text(x + 4, y + h / 2 + 4, graph.nodes[value.first].name, 10);
  }
  content +=
      concat("<path d=\"M", kLeft, " ", kTop, " V", kTop + kHeight, " H",
             kLeft + kWidth, "\" fill=\"none\" stroke=\"", svg::kInk, "\"/>\n");
  content += svg::text(kLeft + kWidth, kTop + kHeight + 18, "nodes, in order",
                       11, "end", svg::kPale);
  return svg::document(kWidth + 2 * kLeft, kTop + kHeight + 34, content);
}

}  // namespace hotaru::graph
