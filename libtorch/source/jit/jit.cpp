#include "torch/jit.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/onnx/load_onnx.h"
#include "hotaru/exchange/pt2/load_pt2.h"
#include "hotaru/io/mapped_file.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/passes/freeze.h"
#include "hotaru/script/program/class_type.h"
#include "source/jit/stack.h"
#include "torch/serialize.h"

namespace torch::jit {

namespace own = hotaru::script;

namespace {

own::KeywordArguments keywords_of(const Kwargs& keywords) {
  own::KeywordArguments out;
  for (const auto& [name, value] : keywords)
    out.emplace_back(name, value.hotaru_value());
  return out;
}

/// The values of pairs, as T makes them.
template <class T, class Pairs>
std::vector<T> values(const Pairs& pairs) {
  std::vector<T> out;
  for (const auto& pair : pairs) out.push_back(T(pair.second));
  return out;
}
template <class T, class Pairs>
std::vector<Named<T>> named(const Pairs& pairs) {
  std::vector<Named<T>> out;
  for (const auto& pair : pairs) out.push_back({pair.first, T(pair.second)});
  return out;
}

}  // namespace

IValue Method::operator()(Stack inputs, const Kwargs& keywords) const {
  return IValue(owner_.call(name_, values_of(inputs), keywords_of(keywords)));
}
Function& Method::function() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!function_) function_ = std::make_shared<Function>(owner_.method(name_));
  return *function_;
}
void Method::run(Stack& stack) const {
  IValue result = (*this)(std::move(stack));
  stack = {std::move(result)};
}
size_t Method::num_inputs() const {
  return owner_.method(name_).params().size();
}

const own::Module& Module::hotaru_module() const {
  TORCH_CHECK(module_, "this module is empty: nothing was loaded into it");
  return *module_;
}

IValue Module::forward(Stack inputs, const Kwargs& keywords) const {
  return IValue(hotaru_module()(values_of(inputs), keywords_of(keywords)));
}
Method Module::get_method(const std::string& name) const {
  if (auto method = find_method(name)) return *method;
  hotaru::fail("Method '", name, "' is not defined.");
}
std::optional<Method> Module::find_method(const std::string& name) const {
  if (!has_method(name)) return {};
  return Method(hotaru_module(), name);
}
std::vector<Method> Module::get_methods() const {
  std::vector<Method> out;
  for (const std::string& name : hotaru_module().method_names())
    out.emplace_back(hotaru_module(), name);
  return out;
}
bool Module::has_method(const std::string& name) const {
  return hotaru_module().has_method(name);
}

IValue Module::attr(const std::string& name) const {
  TORCH_CHECK(hasattr(name), hotaru_module().type().name(),
              " does not have a field with name '", name, "'");
  return IValue(hotaru_module().attribute(name));
}
bool Module::hasattr(const std::string& name) const {
  return hotaru_module().has_attribute(name);
}
void Module::setattr(const std::string& name, const IValue& value) const {
  hotaru_module().set_attribute(name, value.hotaru_value());
}

parameter_list Module::parameters(bool recurse) const {
  return values<at::Tensor>(hotaru_module().named_parameters(recurse));
}
named_parameter_list Module::named_parameters(bool recurse) const {
  return named<at::Tensor>(hotaru_module().named_parameters(recurse));
}
buffer_list Module::buffers(bool recurse) const {
  return values<at::Tensor>(hotaru_module().named_buffers(recurse));
}
named_buffer_list Module::named_buffers(bool recurse) const {
  return named<at::Tensor>(hotaru_module().named_buffers(recurse));
}
module_list Module::children() const {
  return values<Module>(hotaru_module().named_children());
}
named_module_list Module::named_children() const {
  return named<Module>(hotaru_module().named_children());
}
module_list Module::modules() const {
  return values<Module>(hotaru_module().named_modules());
}
named_module_list Module::named_modules() const {
  return named<Module>(hotaru_module().named_modules());
}

void Module::train(bool on) const {
  hotaru_module().train(on);
}
bool Module::is_training() const {
  return !hasattr("training") || attr("training").toBool();
}
void Module::to(at::Device device, at::ScalarType dtype, bool) const {
  hotaru_module().to(to_hotaru(device), c10::to_hotaru(dtype));
}
void Module::to(at::Device device, bool) const {
  hotaru_module().to(to_hotaru(device), {});
}
void Module::to(at::ScalarType dtype, bool) const {
  hotaru_module().to({}, c10::to_hotaru(dtype));
}

Module Module::copy() const {
  return Module(hotaru_module().copy());
}
void Module::save(const std::string& path, const ExtraFilesMap& extra) const {
  own::save(hotaru_module(), path, {extra.begin(), extra.end()});
}
void Module::save(std::ostream& out, const ExtraFilesMap& extra) const {
  own::save(hotaru_module(),
            [&](std::string_view bytes) {
              out.write(bytes.data(), std::streamsize(bytes.size()));
            },
            "archive", {extra.begin(), extra.end()});
}

std::string Module::dump_to_str(bool code, bool attributes, bool values) const {
  std::ostringstream out;
  out << "module " << hotaru_module().type_name() << " {\n";
  if (attributes) {
    out << "  parameters {\n";
    for (const auto& [name, value] : named_parameters(false)) {
      out << "    " << name << " = ";
      if (values)
        out << value << '\n';
      else
        out << value.sizes() << '\n';
    }
    out << "  }\n";
  }
  out << "  methods {\n";
  for (const std::string& name : hotaru_module().method_names()) {
    out << "    method " << name;
    if (code) out << " {\n" << hotaru_module().code(name) << "    }";
    out << '\n';
  }
  out << "  }\n  submodules {\n";
  for (const auto& [name, child] : named_children())
    out << "    " << name << ": "
        << child.dump_to_str(code, attributes, values);
  out << "  }\n}\n";
  return std::move(out).str();
}
void Module::dump(bool code, bool attributes, bool values) const {
  std::cout << dump_to_str(code, attributes, values) << std::endl;
}

namespace {

/// Reads with what was asked for beside the module.
template <class Source>
Module load_from(const Source& source, std::optional<at::Device> device,
                 ExtraFilesMap* extra) {
  std::map<std::string, std::string> files;
  if (extra) files.insert(extra->begin(), extra->end());
  own::Module module = source(&files);
  if (extra)
    for (const auto& [name, text] : files) (*extra)[name] = text;
  if (device && !device->is_cpu()) module.to(to_hotaru(*device), {});
  return Module(std::move(module));
}

own::Module read(const hotaru::Ref<hotaru::io::MappedFile>& file,
                 std::map<std::string, std::string>* files) {
  using hotaru::exchange::Format;
  switch (hotaru::exchange::format_of(file)) {
    case Format::kExported:
      return hotaru::exchange::load_exported_program(file).module;
    case Format::kOnnx:
      return hotaru::exchange::load_onnx(file);
    default:
      return own::load(file, files);
  }
}

Module load_path(const std::string& path, std::optional<at::Device> device,
                 ExtraFilesMap* extra) {
  return load_from(
      [&](auto* files) {
        return read(hotaru::io::MappedFile::open(path), files);
      },
      device, extra);
}
Module load_stream(std::istream& in, std::optional<at::Device> device,
                   ExtraFilesMap* extra) {
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  std::vector<std::byte> bytes(begin, begin + text.size());
  return load_from(
      [&](auto* files) {
        return read(
            hotaru::io::MappedFile::from_bytes(std::move(bytes), "<stream>"),
            files);
      },
      device, extra);
}

}  // namespace

Module load(const std::string& path, std::optional<at::Device> device, bool) {
  return load_path(path, device, nullptr);
}
Module load(const std::string& path, std::optional<at::Device> device,
            ExtraFilesMap& extra, bool) {
  return load_path(path, device, &extra);
}
Module load(std::istream& in, std::optional<at::Device> device, bool) {
  return load_stream(in, device, nullptr);
}
Module load(std::istream& in, std::optional<at::Device> device,
            ExtraFilesMap& extra, bool) {
  return load_stream(in, device, &extra);
}

Module load(
    const std::shared_ptr<caffe2::serialize::ReadAdapterInterface>& reader,
    std::optional<at::Device> device, bool) {
  std::vector<std::byte> bytes(reader->size());
  TORCH_CHECK(
      reader->read(0, bytes.data(), bytes.size(), "archive") == bytes.size(),
      "the reader gave fewer bytes than its size");
  return load_from(
      [&](auto* files) {
        return read(
            hotaru::io::MappedFile::from_bytes(std::move(bytes), "<reader>"),
            files);
      },
      device, nullptr);
}
std::map<std::string, at::Tensor> _load_parameters(
    const std::string& path, std::optional<at::Device> device) {
  std::ifstream in(path, std::ios::binary);
  TORCH_CHECK(in, "open file failed, file path: ", path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::map<std::string, at::Tensor> out;
  for (const auto& item : torch::pickle_load(bytes).toGenericDict()) {
    at::Tensor tensor = item.value().toTensor();
    out[item.key().toStringRef()] = device ? tensor.to(*device) : tensor;
  }
  return out;
}

Module freeze(const Module& module,
              const std::optional<std::vector<std::string>>& preserved, bool) {
  return Module(own::freeze(module.hotaru_module(),
                            preserved.value_or(std::vector<std::string>())));
}
Module optimize_for_inference(Module& module,
                              const std::vector<std::string>& others) {
  // A frozen module has no attribute that says whether it is trained.
  return module.hasattr("training") ? freeze(module, others) : module;
}

}  // namespace torch::jit
