// Programs as ONNX models.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/io/onnx/onnx_writer.h"
#include "hotaru/script/program/module.h"

namespace hotaru::exchange {

struct OnnxExportOptions {
  /// 13 to 23.
  int64_t opset = 20;
  /// Names of the graph's inputs and outputs, in order; those that are left out
  /// are called as the program calls them.
  std::vector<std::string> input_names, output_names;
  /// Dimensions of any size, by input of the graph, and their names.
  std::vector<std::map<int64_t, std::string>> dynamic;
  /// Operators that the program writes itself.
  onnx_out::Symbolics symbolics;
  /// Versions of other domains than ONNX's own; 1 of those that are left out.
  std::map<std::string, int64_t> domains;
  /// Numbers among the arguments are inputs, not constants.
  bool number_inputs = false;
};

/// A model in memory; shares the parameters' memory.
struct OnnxExport {
  io::onnx::Model model;
  std::vector<io::onnx::Initializer> initializers;
  /// Operators that cannot be written; with any, there is no model.
  std::map<std::string, onnx_out::Missing> missing;
  std::vector<std::string> inputs, outputs;
  /// Bytes that the model's constants point into.
  std::shared_ptr<std::deque<std::string>> bytes;
};

/// Writes what calling the method with these arguments does. Sizes are those
/// of the arguments but for dimensions named in the options. Parameters and
/// buffers become initializers under their names. Throws NotImplementedError
/// for what ONNX has no form of, with the program's line.
OnnxExport export_onnx(const script::Module& module, const std::string& method,
                       std::vector<Value> arguments,
                       script::KeywordArguments keywords,
                       const OnnxExportOptions& options);
/// The same of a function.
OnnxExport export_onnx(script::Function& function, std::vector<Value> arguments,
                       script::KeywordArguments keywords,
                       const OnnxExportOptions& options);

}  // namespace hotaru::exchange
