// Layers' errors as a picture.
#pragma once

#include <string>
#include <vector>

#include "compare/layers.h"

namespace hotaru::cli {

/// One precision's part of a picture.
struct LayerPicture {
  std::string title;
  const std::vector<Layer>* layers;
};

/// SVG: a line a layer in the program's order, a bar as long as the decimal
/// logarithm of its largest error, relative to its largest number, lies above
/// the smallest of all.
std::string draw_layers(const std::vector<LayerPicture>& parts);

}  // namespace hotaru::cli
