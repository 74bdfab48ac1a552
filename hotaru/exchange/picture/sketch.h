// Contents of a program's picture, whatever format the program has.
#pragma once

#include <string>
#include <vector>

#include "hotaru/graph/drawing/boxes.h"

namespace hotaru::exchange {

/// A parameter or another tensor of the file that a call reads.
struct SketchWeight {
  std::string name = {};
  std::string type = {};  // "float32[64, 3]"
  double elements = 0, nbytes = 0;
};

struct SketchBlock;

/// A node. Values go by names, each of which is given once.
struct SketchCall {
  /// The modules that it stands in, outermost first.
  std::vector<std::string> path = {};
  std::string name = {};
  std::string result = {};  // "float32[1, 64]", or empty
  std::vector<std::string> inputs = {}, outputs = {};
  std::vector<SketchWeight> weights = {};
  std::vector<SketchBlock> blocks;
};

/// A branch or a loop's body. It sees the values around it. A call's only one
/// needs no name.
struct SketchBlock {
  std::string name = {};
  std::vector<std::string> inputs = {}, outputs = {};
  std::vector<SketchCall> calls = {};
};

/// An input or output of the program.
struct SketchPort {
  std::string name, type;
  std::string value;
};

struct Sketch {
  std::string title = {};
  std::vector<SketchPort> inputs = {}, outputs = {};
  /// Each behind those whose values it reads.
  std::vector<SketchCall> calls = {};
};

/// Calls as boxes: those that follow each other in one module in a box around
/// them, and whatever comes again and again in a row folded into one.
graph::Sheet sheet_of(const Sketch& sketch);

}  // namespace hotaru::exchange
