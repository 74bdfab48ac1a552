#include "hotaru/exchange/onnx/load_onnx.h"

#include <mutex>
#include <utility>

#include "hotaru/exchange/module_tree.h"
#include "hotaru/exchange/onnx/graph_writer.h"
#include "hotaru/exchange/onnx/operators.h"
#include "hotaru/io/onnx/onnx_file.h"

namespace hotaru::exchange {

script::Module load_onnx(const std::string& path) {
  return load_onnx(io::MappedFile::open(path));
}

script::Module load_onnx(std::vector<std::byte> bytes,
                         const std::string& name) {
  return load_onnx(io::MappedFile::from_bytes(std::move(bytes), name));
}

script::Module load_onnx(Ref<io::MappedFile> mapped) {
  io::onnx::OnnxFile file(std::move(mapped));
  auto unit = script::CompilationUnit::create();
  std::lock_guard lock(unit->mutex());
  auto operators = std::make_shared<onnx::Operators>(*unit);
  ModuleTree tree(unit, "OnnxModel");
  std::string text = onnx::GraphWriter(file, *operators, tree).forward();
  return tree.finish(file.name(), std::move(text), operators->resolver(),
                     false);
}

std::vector<std::string> onnx_operators() {
  auto unit = script::CompilationUnit::create();
  return std::make_shared<onnx::Operators>(*unit)->names();
}

}  // namespace hotaru::exchange
