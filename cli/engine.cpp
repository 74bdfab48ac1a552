#include "engine.h"

#include <algorithm>
#include <filesystem>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/onnx_out/export_onnx.h"
#include "hotaru/io/mapped_file.h"
#include "hotaru/io/onnx/onnx_writer.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/platform/process.h"
#include "hotaru/provider/compile_onnx.h"

namespace hotaru::cli {
namespace {

namespace fs = std::filesystem;

/// The last by name of libonnxruntime.so* in a folder of packages, or `found`.
fs::path library_in(const fs::path& packages, fs::path found) {
  std::error_code none;
  const fs::path folder = packages / "onnxruntime" / "capi";
  for (const auto& file : fs::directory_iterator(folder, none))
    if (file.path().filename().string().starts_with("libonnxruntime.so"))
      found = std::max(found, file.path());
  return found;
}

/// ONNX Runtime's library of the environment that the command lies in: in bin/,
/// or in the bin/ of a package, as wheels have it.
fs::path library_beside(const fs::path& command) {
  std::error_code none;
  const fs::path folder = command.parent_path();
  fs::path found = library_in(folder / ".." / "..", {});
  for (const auto& python : fs::directory_iterator(folder / ".." / "lib", none))
    found = library_in(python.path() / "site-packages", found);
  return found;
}

void find_library() {
  const fs::path found = library_beside(platform::executable_path());
  if (!found.empty()) provider::set_onnx_runtime_path(found.string());
}

/// A number stands for a tensor without dimensions.
Tensor input_of(const Value& value, const provider::Port& port) {
  const Value tensor = number_as(port.dtype, value);
  HOTARU_CHECK_AS(ValueError, tensor.is_tensor(), "input '", port.name, "' is ",
                  port.type_text(), "; give a tensor or a number");
  return tensor.as_tensor();
}

Value value_of(std::vector<Tensor> outputs) {
  if (outputs.size() == 1) return std::move(outputs[0]);
  std::vector<Value> items;
  for (Tensor& output : outputs) items.emplace_back(std::move(output));
  return Value::tuple(std::move(items));
}

/// The ONNX model of what the program does with these arguments; numbers among
/// them are constants.
std::vector<std::byte> exported(const std::string& path,
                                const std::vector<Value>& arguments,
                                const std::string& method) {
  const script::Module module = exchange::load_program(path);
  module.eval();
  const exchange::OnnxExport made =
      exchange::export_onnx(module, method, arguments, {}, {});
  std::string missing;
  for (const auto& [name, calls] : made.missing)
    missing += concat(missing.empty() ? "" : ", ", name, " (", calls.count,
                      " times, first at ", calls.where, ")");
  HOTARU_CHECK_AS(NotImplementedError, missing.empty(), path,
                  ": operators without an ONNX form here: ", missing);
  std::vector<std::byte> bytes;
  io::onnx::write_model(
      [&](std::string_view part) {
        const auto* data = reinterpret_cast<const std::byte*>(part.data());
        bytes.insert(bytes.end(), data, data + part.size());
      },
      made.model, made.initializers, {});
  return bytes;
}

/// Compiles the file; takes from the arguments those that are no inputs.
Ref<provider::Executable> compiled(const ModelOptions& options,
                                   std::vector<Value>* arguments) {
  provider::OnnxOptions settings;
  settings.intra_op_num_threads = options.threads;
  const exchange::Format format =
      exchange::format_of(io::MappedFile::open(options.path));
  if (format != exchange::Format::kOnnx) {
    const auto bytes = exported(options.path, *arguments, options.method);
    std::erase_if(*arguments, [](const Value& v) { return !v.is_tensor(); });
    return provider::compile_onnx(bytes, options.path, settings);
  }
  HOTARU_CHECK_AS(ValueError, options.method == "forward",
                  "--method: an ONNX model has no methods");
  return provider::compile_onnx(options.path, settings);
}

}  // namespace

std::function<Value()> onnx_runtime_call(const ModelOptions& options) {
  HOTARU_CHECK_AS(ValueError, options.device == "cpu",
                  "--device: ONNX Runtime runs on the CPU here");
  find_library();
  std::vector<Value> given = options.inputs.values();
  const Ref<provider::Executable> program = compiled(options, &given);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    // Too many are the program's to refuse.
    const auto& ports = program->inputs();
    inputs.push_back(i < ports.size() ? input_of(given[i], ports[i])
                                      : Tensor());
  }
  return [program, inputs] {
    const autograd::NoGrad no_grad;
    return value_of((*program)(inputs));
  };
}

}  // namespace hotaru::cli
