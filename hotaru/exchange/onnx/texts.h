// What ONNX's operators mean, in TorchScript: the files of texts/, which the
// library carries. texts.cpp is written by CMake.
#pragma once

#include <span>

namespace hotaru::exchange::onnx {

struct Text {
  const char* family;  // "math"
  const char* text;
};

std::span<const Text> texts();

}  // namespace hotaru::exchange::onnx
