// Contents of a file of weights, for people and as JSON.
#pragma once

#include <string>

namespace hotaru::cli {

/// Prints format, totals, metadata and the tree of a safetensors or GGUF file's
/// tensors; reads no tensor. Throws for other files.
void show_weights(const std::string& path, bool as_json);

}  // namespace hotaru::cli
