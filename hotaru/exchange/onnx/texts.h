// Meaning of ONNX's operators, in TorchScript: the files of texts/, which the
// library carries as an archive.
#pragma once

#include <string>
#include <vector>

namespace hotaru::exchange::onnx {

struct Text {
  std::string family;  // "math"
  std::string text;
};

/// All of them, inflated (about a millisecond).
std::vector<Text> texts();

}  // namespace hotaru::exchange::onnx
