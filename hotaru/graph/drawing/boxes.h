// Boxes within boxes: the one layout of all pictures of graphs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hotaru::graph {

/// A call, or a group that is drawn around its members.
struct Box {
  enum class Kind : uint8_t {
    kCall,
    kModule,
    kBlock,  // a branch, a loop's body
    kPort,   // an input or output of the whole
  };
  Kind kind = Kind::kCall;
  std::string name = {};
  /// Lines below the name.
  std::vector<std::string> notes = {};
  /// Which of its siblings it follows, as indices below its own.
  std::vector<size_t> after = {};
  /// Set if it reads what comes from around its group, and if others outside
  /// read what it gives.
  bool takes = false, gives = false;
  std::vector<Box> inside = {};
  /// How many such boxes in a row it stands for.
  size_t times = 1;
  /// Share of the whole time; negative where no time was taken.
  double share = -1;
};

/// One column of a picture.
struct Sheet {
  std::string title;
  std::vector<Box> boxes;
};

/// The sheets side by side: boxes from top to bottom, each below those that it
/// follows, with lines between them. As SVG.
std::string draw_sheets(const std::vector<Sheet>& sheets);

}  // namespace hotaru::graph
