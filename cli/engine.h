// Models that an engine runs in hotaru's stead.
#pragma once

#include <functional>

#include "hotaru/core/value.h"
#include "model.h"

namespace hotaru::cli {

/// The engines that `--engine` knows besides hotaru itself.
inline constexpr const char* kOnnxRuntime = "onnxruntime";

/// A model that ONNX Runtime compiled, with the inputs read: each call runs it.
/// Programs of other formats are exported to ONNX for these inputs first. The
/// library is looked for beside the command, too: in the site-packages of the
/// environment that it is installed in.
std::function<Value()> onnx_runtime_call(const ModelOptions& options);

}  // namespace hotaru::cli
