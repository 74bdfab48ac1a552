#include "torch/serialize/archive.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "ATen/Functions.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/types/type.h"

namespace torch::serialize {

namespace own = hotaru::script;

void OutputArchive::add(Entry entry) {
  const bool taken = std::ranges::any_of(
      entries_, [&](const Entry& e) { return e.key == entry.key; });
  TORCH_CHECK(!taken, "the archive has '", entry.key, "' already");
  entries_.push_back(std::move(entry));
}
void OutputArchive::write(const std::string& key, const c10::IValue& value) {
  add({key, Kind::kAttribute, value, nullptr});
}
void OutputArchive::write(const std::string& key, const Tensor& tensor,
                          bool is_buffer) {
  add({key, is_buffer ? Kind::kBuffer : Kind::kParameter, tensor, nullptr});
}
void OutputArchive::write(const std::string& key, OutputArchive& nested) {
  add({key,
       Kind::kAttribute,
       {},
       std::make_shared<OutputArchive>(std::move(nested))});
}

/// A class for this archive alone, since each has attributes of its own.
jit::Module OutputArchive::module(
    const std::shared_ptr<own::CompilationUnit>& unit) const {
  own::ClassType* cls = unit->add_class(std::make_unique<own::ClassType>(
      *unit, unit->unique_name("__torch__.Module"),
      own::ClassType::Kind::kModule));
  cls->set_type(unit->types().class_type(cls));
  std::vector<hotaru::Value> values;
  const auto attribute = [&](const std::string& name, hotaru::Value value,
                             Kind kind) {
    own::TypePtr type = value.is_none()
                            ? unit->types().optional(own::TypeTable::tensor())
                            : own::type_of(unit->types(), value);
    TORCH_CHECK(type, "'", name, "' has no form in an archive");
    cls->add_attribute(
        {name, type, kind == Kind::kParameter, kind == Kind::kBuffer});
    values.push_back(std::move(value));
  };
  for (const Entry& entry : entries_)
    attribute(
        entry.key,
        entry.nested
            ? hotaru::Value(entry.nested->module(unit).hotaru_module().object())
            : entry.value.hotaru_value(),
        entry.kind);
  auto object = own::make_instance(*cls);
  object->slots = std::move(values);
  return jit::Module(own::Module(std::move(object)));
}

void OutputArchive::save_to(const std::string& path) {
  module(own::CompilationUnit::create()).save(path);
}
void OutputArchive::save_to(std::ostream& out) {
  module(own::CompilationUnit::create()).save(out);
}
void OutputArchive::save_to(
    const std::function<size_t(const void*, size_t)>& write) {
  std::ostringstream out;
  save_to(out);
  const std::string bytes = std::move(out).str();
  TORCH_CHECK(write(bytes.data(), bytes.size()) == bytes.size(),
              "not all bytes of the archive were written");
}

bool InputArchive::try_read(const std::string& key, c10::IValue& value) {
  if (!module_.hasattr(key)) return false;
  value = module_.attr(key);
  return true;
}
void InputArchive::read(const std::string& key, c10::IValue& value) {
  value = module_.attr(key);  // throws, and names the module
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) {
  c10::IValue found;
  if (!try_read(key, found) || found.isModule()) return false;
  const Tensor read = found.to<Tensor>();
  if (!tensor.defined()) {
    tensor = read;
    return true;
  }
  const NoGradGuard no_grad;
  // Geometry is that of the file: a scalar may have been written anew.
  if (!tensor.sizes().equals(read.sizes())) tensor.resize_(read.sizes());
  tensor.set_data(read.to(tensor.device()).clone());
  return true;
}
void InputArchive::read(const std::string& key, Tensor& tensor,
                        bool is_buffer) {
  TORCH_CHECK(try_read(key, tensor, is_buffer), "No such serialized tensor '",
              where(key), "'");
}

bool InputArchive::try_read(const std::string& key, InputArchive& nested) {
  c10::IValue found;
  if (!try_read(key, found) || !found.isModule()) return false;
  nested.module_ = found.toModule();
  nested.prefix_ = where(key) + ".";
  return true;
}
void InputArchive::read(const std::string& key, InputArchive& nested) {
  TORCH_CHECK(try_read(key, nested), "No such serialized submodule: '",
              where(key), "'");
}

void InputArchive::load_from(const std::string& path,
                             std::optional<Device> device) {
  module_ = jit::load(path, device);
}
void InputArchive::load_from(std::istream& in, std::optional<Device> device) {
  module_ = jit::load(in, device);
}
void InputArchive::load_from(const char* data, size_t size,
                             std::optional<Device> device) {
  std::istringstream in(std::string(data, size));
  load_from(in, device);
}
void InputArchive::load_from(
    const std::function<size_t(uint64_t, void*, size_t)>& read_at,
    const std::function<size_t()>& size, std::optional<Device> device) {
  std::string bytes(size(), '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t n = read_at(at, bytes.data() + at, bytes.size() - at);
    TORCH_CHECK(n > 0, "the archive ends after ", at, " of ", bytes.size(),
                " bytes");
    at += n;
  }
  load_from(bytes.data(), bytes.size(), device);
}

std::vector<std::string> InputArchive::keys() {
  std::vector<std::string> out;
  for (const auto& attribute : module_.hotaru_module().type().attributes())
    out.push_back(attribute.name);
  return out;
}

}  // namespace torch::serialize
