#include "hotaru/graph/drawing/boxes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hotaru/core/printing/concat.h"
#include "hotaru/graph/drawing/svg.h"

namespace hotaru::graph {
namespace {

using svg::Frame;
using svg::number;

constexpr double kBoxWidth = 190, kGapX = 26, kGapY = 24;
constexpr double kMargin = 24, kTitle = 34, kLane = 18;
constexpr double kFirstLine = 15, kLine = 13, kFoot = 6;
// Wider rows are continued below.
constexpr double kRowWidth = 10 * (kBoxWidth + kGapX);
constexpr const char* kLineColour = "#8c959f";

/// A box with its place in its group.
struct Placed {
  const Box* box = nullptr;
  Frame at;
  size_t row = 0;
  std::vector<Placed> inside;
};

struct Group {
  std::vector<Placed> members;
  double width = 0, height = 0;
};

double header(const Box& box) {
  const size_t lines = box.inside.empty() && box.notes.empty()
                           ? 1  // as high as its neighbours
                           : box.notes.size();
  return kFirstLine + kLine * double(lines) + kFoot;
}

/// The depth of each box; what follows nothing stands above its first reader.
std::vector<size_t> depths(const std::vector<Box>& boxes) {
  std::vector<size_t> depth(boxes.size()), reader(boxes.size(), SIZE_MAX);
  for (size_t n = 0; n < boxes.size(); ++n)
    for (const size_t before : boxes[n].after)
      depth[n] = std::max(depth[n], depth[before] + 1);
  for (size_t n = 0; n < boxes.size(); ++n)
    for (const size_t before : boxes[n].after)
      reader[before] = std::min(reader[before], depth[n]);
  for (size_t n = 0; n < boxes.size(); ++n)
    if (boxes[n].after.empty() && boxes[n].kind != Box::Kind::kPort &&
        !boxes[n].takes && reader[n] != SIZE_MAX)
      depth[n] = reader[n] - 1;
  return depth;
}

Group arrange(const std::vector<Box>& boxes);

Placed measured(const Box& box) {
  Placed out{&box, {0, 0, kBoxWidth, header(box)}, 0, {}};
  if (box.inside.empty()) return out;
  Group group = arrange(box.inside);
  out.at.width = std::max(kBoxWidth, group.width + 2 * kLane);
  out.at.height += kGapY / 2 + group.height + kGapY / 2;
  const double left = (out.at.width - group.width) / 2;
  for (Placed& member : group.members) {
    member.at.x += left;
    member.at.y += header(box) + kGapY / 2;
  }
  out.inside = std::move(group.members);
  return out;
}

/// Rows by depth; within a row in the order of the boxes.
Group arrange(const std::vector<Box>& boxes) {
  Group out;
  const std::vector<size_t> depth = depths(boxes);
  std::vector<std::vector<size_t>> rows;
  for (size_t n = 0; n < boxes.size(); ++n) {
    out.members.push_back(measured(boxes[n]));
    rows.resize(std::max(rows.size(), depth[n] + 1));
    rows[depth[n]].push_back(n);
  }
  std::vector<double> widths;
  double y = 0;
  for (const std::vector<size_t>& row : rows) {
    double x = 0, highest = 0;
    for (const size_t n : row) {
      Placed& member = out.members[n];
      if (x > 0 && x + member.at.width > kRowWidth) {
        widths.push_back(x - kGapX);
        y += highest + kGapY;
        x = highest = 0;
      }
      member.at.x = x;
      member.at.y = y;
      member.row = widths.size();
      x += member.at.width + kGapX;
      highest = std::max(highest, member.at.height);
    }
    if (row.empty()) continue;
    widths.push_back(x - kGapX);
    y += highest + kGapY;
  }
  for (const double width : widths) out.width = std::max(out.width, width);
  for (Placed& member : out.members)
    member.at.x += (out.width - widths[member.row]) / 2;
  out.height = std::max(0.0, y - kGapY);
  return out;
}

// -- lines --------------------------------------------------------------------

struct Point {
  double x, y;
};

/// Lines of one group, from its boxes' lower edges to upper ones.
class Lines {
 public:
  explicit Lines(const std::vector<Placed>& members) {
    for (const Placed& member : members) {
      rows_.resize(std::max(rows_.size(), member.row + 1));
      rows_[member.row].push_back(member.at);
      ends_.resize(rows_.size());
      double& end = ends_[member.row];
      end = std::max(end, member.at.y + member.at.height);
    }
  }
  size_t rows() const { return rows_.size(); }

  /// `first` to `last` are the rows between the two points.
  void draw(Point from, Point to, size_t first, size_t last, std::string& out) {
    // Long lines are not looked at any closer.
    bool hidden = last > first + kLookedAt;
    double left = std::min(from.x, to.x), right = std::max(from.x, to.x);
    const double low = left - 2, high = right + 2;
    for (size_t row = first; row < std::min(last, first + kLookedAt); ++row) {
      for (const Frame& at : rows_[row]) {
        left = std::min(left, at.x);
        right = std::max(right, at.x + at.width);
        hidden = hidden || (at.x < high && at.x + at.width > low);
      }
    }
    out += concat("<path d=\"M", number(from.x), " ", number(from.y));
    // Past higher neighbours.
    if (first > 0 && ends_[first - 1] > from.y) {
      from.y = ends_[first - 1];
      out += concat(" V", number(from.y));
    }
    if (hidden) {
      const double aside = 5 + 4 * double(lanes_++ % 3);
      const double middle = (from.x + to.x) / 2;
      const bool to_left = middle - left < right - middle;
      const Point turn{to_left ? left - aside : right + aside, from.y + kGapY};
      curve(from, turn, out);
      out += concat(" V", number(to.y - kGapY));
      curve({turn.x, to.y - kGapY}, to, out);
    } else {
      curve(from, to, out);
    }
    out += concat("\" fill=\"none\" stroke=\"", kLineColour, "\"/>\n");
  }

 private:
  static void curve(Point from, Point to, std::string& out) {
    const double bend = std::max(kGapY / 2, (to.y - from.y) / 2);
    out += concat(" C", number(from.x), " ", number(from.y + bend), " ",
                  number(to.x), " ", number(to.y - bend), " ", number(to.x),
                  " ", number(to.y));
  }

  static constexpr size_t kLookedAt = 64;

  std::vector<std::vector<Frame>> rows_;
  std::vector<double> ends_;
  size_t lanes_ = 0;
};

Point top(const Frame& at) {
  return {at.x + at.width / 2, at.y};
}
Point bottom(const Frame& at) {
  return {top(at).x, at.y + at.height};
}

/// Between siblings, and to and from their group's edges.
std::string lines(const std::vector<Placed>& members, const Placed* group) {
  std::string out;
  Lines all(members);
  for (const Placed& member : members) {
    for (const size_t before : member.box->after)
      all.draw(bottom(members[before].at), top(member.at),
               members[before].row + 1, member.row, out);
    if (!group) continue;
    const double middle = group->at.width / 2;
    if (member.box->takes)
      all.draw({middle, header(*group->box)}, top(member.at), 0, member.row,
               out);
    if (member.box->gives)
      all.draw(bottom(member.at), {middle, group->at.height}, member.row + 1,
               all.rows(), out);
  }
  return out;
}

// -- boxes --------------------------------------------------------------------

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

std::string fill(const Box& box) {
  switch (box.kind) {
    case Box::Kind::kModule:
      return "#eef4fb";
    case Box::Kind::kBlock:
      return "#fdf6e3";
    case Box::Kind::kPort:
      return "#e6f4ea";
    default:
      return heat(box.share);
  }
}

std::string drawn(const Placed& placed) {
  const Box& box = *placed.box;
  const auto [x, y, width, height] = placed.at;
  const char* edge = box.inside.empty() ? svg::kPale : "#a8b3bf";
  const double round = box.kind == Box::Kind::kPort ? 14 : 5;
  std::string out;
  if (box.times > 1)
    out += svg::rectangle({x + 5, y + 5, width, height}, fill(box), edge, 5);
  out += svg::rectangle(placed.at, fill(box), edge, round);
  // In characters, of which one takes some 7 of 12 pixels.
  const size_t room = size_t((width - (box.times > 1 ? 48 : 8)) / 6.7);
  out += svg::text(x + 8, y + kFirstLine, svg::shortened(box.name, room), 12);
  if (box.times > 1)
    out += svg::text(x + width - 8, y + kFirstLine, concat("×", box.times), 12,
                     "end", "#9a3412");
  double line = y + kFirstLine;
  for (const std::string& note : box.notes)
    out +=
        svg::text(x + 8, line += kLine, svg::shortened(note, size_t(width / 5)),
                  9, "start", svg::kPale);
  if (box.share >= 0)
    out += svg::text(x + width - 8, y + kFirstLine + kLine,
                     number(100 * box.share) + " %", 10, "end");
  if (placed.inside.empty()) return out;
  out += concat("<g transform=\"translate(", number(x), " ", number(y),
                ")\">\n", lines(placed.inside, &placed));
  for (const Placed& member : placed.inside) out += drawn(member);
  return out + "</g>\n";
}

}  // namespace

std::string draw_sheets(const std::vector<Sheet>& sheets) {
  std::string content;
  double x = kMargin, height = 0;
  for (const Sheet& sheet : sheets) {
    const Group group = arrange(sheet.boxes);
    content +=
        concat("<g transform=\"translate(", number(x), " ", kMargin, ")\">\n",
               svg::text(0, 14, sheet.title, 15), "<g transform=\"translate(0 ",
               kTitle, ")\">\n", lines(group.members, nullptr));
    for (const Placed& member : group.members) content += drawn(member);
    content += "</g>\n</g>\n";
    x += std::max(kBoxWidth, group.width) + 3 * kMargin;
    height = std::max(height, kTitle + group.height + kGapY);
  }
  return svg::document(x - kMargin, height + 2 * kMargin, content);
}

}  // namespace hotaru::graph
