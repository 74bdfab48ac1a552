// Which module a call belongs to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hotaru/exchange/picture/sketch.h"

namespace hotaru::exchange {

/// "layers.0" in its parts.
std::vector<std::string> split_path(std::string_view name);

/// Paths of calls whose file says nothing of modules: a weight
/// "layers.0.a.bias" belongs to the module layers.0.a, and so does the call
/// that reads it; calls between two such are in what both modules are in.
void guess_paths(std::vector<SketchCall>& calls);

}  // namespace hotaru::exchange
