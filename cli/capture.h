// A model's call as a graph.
#pragma once

#include <string>
#include <vector>

#include "hotaru/graph/graph.h"
#include "model.h"

namespace hotaru::cli {

/// Calls before the one that is captured.
inline constexpr int kWarmUpCalls = 3;

/// Throws ValueError unless all are names of passes.
void check_passes(const std::vector<std::string>& names);

/// The model's next call but kWarmUpCalls, which make what a first call makes,
/// as a graph; what it returns lives as long as `result`, and every replay
/// overwrites it. Throws Error, saying why, for calls that can't be captured.
Ref<graph::Graph> capture(Model& model, Value& result,
                          graph::Options options = {});

}  // namespace hotaru::cli
