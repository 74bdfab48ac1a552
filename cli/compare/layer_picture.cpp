#include "compare/layer_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hotaru/core/printing/concat.h"
#include "hotaru/graph/drawing/svg.h"
#include "text.h"

namespace hotaru::cli {
namespace {

namespace svg = graph::svg;

constexpr double kNames = 300, kBars = 340, kRow = 15, kMargin = 12;
constexpr double kFigures = 70, kHeader = 40;
constexpr size_t kLetters = 46;
constexpr const char* kColours[] = {"#5b84b1", "#c0762d", "#4a9a62"};

/// Powers of ten that hold all errors.
struct Range {
  double low = 0, high = -99;
  double width(double error) const {
    const double at = (std::log10(error) - low) / (high - low);
    return kBars * std::clamp(at, 0.0, 1.0);
  }
};

bool has_bar(const Layer& layer) {
  return !layer.kept && layer.error.relative() > 0;
}

Range range_of(const std::vector<LayerPicture>& parts) {
  Range out;
  for (const LayerPicture& part : parts)
    for (const Layer& layer : *part.layers) {
      if (!has_bar(layer)) continue;
      const double power = std::log10(layer.error.relative());
      out.low = std::min(out.low, std::floor(power));
      out.high = std::max(out.high, std::ceil(power));
    }
  if (out.high <= out.low) out.high = out.low + 1;
  return out;
}

std::string scale(const Range& range, double top, double bottom) {
  std::string out;
  for (double power = range.low; power <= range.high; ++power) {
    const double x =
        kNames + kBars * (power - range.low) / (range.high - range.low);
    out += svg::rectangle({x, top, 0.6, bottom - top}, "#d0d7de", "none");
    out += svg::text(x, top - 3, concat("1e", int(power)), 9, "middle",
                     svg::kPale);
  }
  return out;
}

std::string row(const Layer& layer, const Range& range, double y,
                const char* colour) {
  std::string out = svg::text(
      kNames - 8, y + 10,
      svg::shortened(concat(shown(layer.name), "  ", layer.result), kLetters),
      10, "end");
  if (!has_bar(layer)) {
    const char* const why = layer.kept ? "float32" : "no difference";
    return out + svg::text(kNames + 4, y + 10, why, 9, "start", svg::kPale);
  }
  const double width = std::max(range.width(layer.error.relative()), 1.0);
  char figure[32];
  std::snprintf(figure, sizeof figure, "%.1e", layer.error.relative());
  out += svg::rectangle({kNames, y + 2, width, kRow - 4}, colour, "none");
  return out + svg::text(kNames + width + 4, y + 10, figure, 9);
}

}  // namespace

std::string draw_layers(const std::vector<LayerPicture>& parts) {
  const Range range = range_of(parts);
  std::string content;
  double y = kMargin;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<Layer>& layers = *parts[i].layers;
    content += svg::text(kMargin, y + 12,
                         concat(parts[i].title,
                                ": each product's largest error over its "
                                "largest number"),
                         12);
    y += kHeader;
    content += scale(range, y, y + kRow * double(layers.size()));
    for (const Layer& layer : layers) {
      content += row(layer, range, y, kColours[i % std::size(kColours)]);
      y += kRow;
    }
    y += kMargin;
  }
  return svg::document(kNames + kBars + kFigures, y, content);
}

}  // namespace hotaru::cli
