// ONNX models as modules.
#pragma once

#include <string>
#include <vector>

#include "hotaru/io/mapped_file.h"
#include "hotaru/script/program/module.h"

namespace hotaru::exchange {

/// Loads an ONNX model: a module whose `forward` takes the graph's inputs and
/// returns its output, or a tuple of several. Initializers of floating-point
/// types are parameters, other tensors buffers; both lie in the mapped file
/// where they can. A size of an input may be any, whatever the file declares.
/// Throws Error naming file and node for what is no valid model, and
/// NotImplementedError for operators that are not here, all at once.
script::Module load_onnx(const std::string& path);
/// The same from bytes; `name` stands for the path in errors, and in whose
/// folder external data may lie.
script::Module load_onnx(std::vector<std::byte> bytes, const std::string& name);
script::Module load_onnx(Ref<io::MappedFile> file);

/// The operators that load_onnx knows, sorted.
std::vector<std::string> onnx_operators();

}  // namespace hotaru::exchange
