// Contents of a program's file, for people and as JSON.
#pragma once

#include <string>

namespace hotaru::cli {

/// Prints inputs and outputs, parameters and buffers, operators by frequency
/// and those that are not here, of a TorchScript archive, a .pt2 file or an
/// ONNX model; runs nothing. Throws for damaged files.
void show_program(const std::string& path, bool as_json);

}  // namespace hotaru::cli
