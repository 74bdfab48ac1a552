// Modules of TorchScript: loading, calling, changing, saving.
#pragma once

#include <istream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ATen/core/function_schema.h"
#include "ATen/core/ivalue.h"
#include "ATen/core/jit_type.h"
#include "caffe2/serialize/read_adapter_interface.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/module.h"
#include "hotaru/script/program/unit.h"
#include "torch/types.h"

namespace torch::jit {

using c10::IValue;
using Stack = std::vector<IValue>;
using Kwargs = std::unordered_map<std::string, IValue>;
using ExtraFilesMap = std::unordered_map<std::string, std::string>;

/// Things of a module: with names and values, or values alone. Range-for works.
template <class T>
class slot_list_impl : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  slot_list_impl(std::vector<T> items) : std::vector<T>(std::move(items)) {}
};
template <class T>
struct Named {
  std::string name;
  T value;
};
template <class T>
using NamedValue = Named<T>;

struct CompilationUnit;
struct Graph;
struct Module;
using parameter_list = slot_list_impl<at::Tensor>;
using buffer_list = slot_list_impl<at::Tensor>;
using module_list = slot_list_impl<Module>;
using attribute_list = slot_list_impl<IValue>;
using named_parameter_list = slot_list_impl<Named<at::Tensor>>;
using named_buffer_list = slot_list_impl<Named<at::Tensor>>;
using named_module_list = slot_list_impl<Named<Module>>;
using named_attribute_list = slot_list_impl<Named<IValue>>;

/// A function, or a method whose first argument is its object. Thread-safe to
/// call.
struct Function {
  explicit Function(hotaru::script::Function& function);
  const std::string& name() const { return name_; }
  const c10::QualifiedName& qualname() const { return qualified_; }
  size_t num_inputs() const;
  const c10::FunctionSchema& getSchema() const { return schema_; }
  IValue operator()(Stack inputs, const Kwargs& keywords = {}) const;
  void run(Stack& stack) const;
  void ensure_defined() const {}

 private:
  std::shared_ptr<hotaru::script::CompilationUnit> unit_;
  hotaru::script::Function* function_;
  c10::QualifiedName qualified_;
  std::string name_;
  c10::FunctionSchema schema_;
};

/// A method with its object. Thread-safe to call.
struct Method {
  Method(hotaru::script::Module owner, std::string name)
      : owner_(std::move(owner)), name_(std::move(name)) {}
  /// Lives as long as this method or a copy of it.
  Function& function() const;
  IValue operator()(Stack inputs, const Kwargs& keywords = {}) const;
  void run(Stack& stack) const;
  const std::string& name() const { return name_; }
  size_t num_inputs() const;
  std::string code() const { return owner_.code(name_); }
  std::string graph() const { return owner_.graph(name_); }

 private:
  hotaru::script::Module owner_;
  std::string name_;
  // Made when it is first asked for.
  mutable std::shared_ptr<Function> function_;
};

}  // namespace torch::jit

namespace c10 {

/// The class of a module.
struct ClassType final : Type {
  static constexpr TypeKind Kind = TypeKind::ClassType;
  explicit ClassType(hotaru::script::ClassType& cls);
  std::optional<QualifiedName> name() const {
    return QualifiedName(annotation_str());
  }
  bool is_module() const;
  size_t numAttributes() const;
  const std::string& getAttributeName(size_t i) const;
  bool hasAttribute(const std::string& name) const;
  std::optional<size_t> findAttributeSlot(const std::string& name) const;
  /// Throws for an unknown one; findMethod gives null. Lives as long as this.
  torch::jit::Function& getMethod(const std::string& name);
  torch::jit::Function* findMethod(const std::string& name);
  /// Throws: methods come by Module::define.
  void addMethod(torch::jit::Function* method);
  hotaru::script::ClassType& hotaru_class() const { return *cls_; }

 private:
  std::shared_ptr<hotaru::script::CompilationUnit> unit_;
  hotaru::script::ClassType* cls_;
  std::mutex mutex_;
  std::map<std::string, torch::jit::Function> methods_;
};
using ClassTypePtr = std::shared_ptr<ClassType>;

namespace ivalue {
class Object final : public intrusive_ptr_target {
 public:
  explicit Object(hotaru::Ref<hotaru::InstanceObject> object)
      : object_(std::move(object)) {}
  std::shared_ptr<ClassType> type() const;
  std::string name() const;
  /// Throw for an unknown one; values have to be of the attribute's type.
  IValue getAttr(const std::string& name) const;
  void setAttr(const std::string& name, const IValue& value) const;
  bool hasattr(const std::string& name) const;
  const std::vector<hotaru::Value>& slots() const { return object_->slots; }
  /// That of its class.
  std::shared_ptr<torch::jit::CompilationUnit> compilation_unit() const;

 private:
  hotaru::Ref<hotaru::InstanceObject> object_;
};
}  // namespace ivalue

}  // namespace c10

namespace torch::jit {

using c10::ClassType;

/// A handle to a module object; copying shares it. Empty until it is assigned.
struct Module {
  Module() = default;
  explicit Module(hotaru::script::Module module) : module_(std::move(module)) {}
  /// One of a new class of that name, with nothing in it yet.
  explicit Module(const c10::QualifiedName& name);

  const hotaru::script::Module& hotaru_module() const;

  /// Calls forward, with the module's hooks.
  IValue forward(Stack inputs, const Kwargs& keywords = {}) const;
  IValue operator()(Stack inputs, const Kwargs& keywords = {}) const {
    return forward(std::move(inputs), keywords);
  }
  template <class... Args>
  IValue operator()(Args&&... args) const {
    return forward(Stack{IValue(std::forward<Args>(args))...});
  }
  template <class... Args>
  IValue run_method(const std::string& name, Args&&... args) const {
    return get_method(name)(Stack{IValue(std::forward<Args>(args))...});
  }
  /// Throws for an unknown one; find_method gives nothing.
  Method get_method(const std::string& name) const;
  std::optional<Method> find_method(const std::string& name) const;
  std::vector<Method> get_methods() const;
  bool has_method(const std::string& name) const;

  IValue attr(const std::string& name) const;
  IValue attr(const std::string& name, IValue otherwise) const {
    return hasattr(name) ? attr(name) : otherwise;
  }
  bool hasattr(const std::string& name) const;
  void setattr(const std::string& name, const IValue& value) const;

  /// Adds an attribute; one that is there has to be of that type and gets the
  /// value. What was saved or called before does not change with it.
  void register_parameter(const std::string& name, at::Tensor value,
                          bool is_buffer) const;
  void register_buffer(const std::string& name, at::Tensor value) const {
    register_parameter(name, std::move(value), true);
  }
  void register_attribute(const std::string& name, const c10::TypePtr& type,
                          const IValue& value, bool is_parameter = false,
                          bool is_buffer = false) const;
  void register_module(const std::string& name, const Module& module) const;
  /// Adds the methods of a source: "def forward(self, x): return x + 1".
  void define(const std::string& source) const;
  std::shared_ptr<c10::ClassType> type() const;
  c10::intrusive_ptr<c10::ivalue::Object> _ivalue() const;

  parameter_list parameters(bool recurse = true) const;
  named_parameter_list named_parameters(bool recurse = true) const;
  buffer_list buffers(bool recurse = true) const;
  named_buffer_list named_buffers(bool recurse = true) const;
  module_list children() const;
  named_module_list named_children() const;
  /// Attributes of all kinds, modules among them.
  attribute_list attributes(bool recurse = true) const;
  named_attribute_list named_attributes(bool recurse = true) const;
  module_list modules() const;
  named_module_list named_modules() const;

  void train(bool on = true) const;
  void eval() const { train(false); }
  bool is_training() const;
  void to(at::Device device, at::ScalarType dtype, bool = false) const;
  void to(at::Device device, bool = false) const;
  void to(at::ScalarType dtype, bool = false) const;

  /// An object of a class of this module's program, by its __init__.
  IValue create_class(const c10::QualifiedName& name, Stack inputs) const;

  Module copy() const;
  Module deepcopy(std::optional<at::Device> = {}) const { return copy(); }
  Module clone(bool = false) const { return copy(); }
  /// Writes an archive that PyTorch reads, too.
  void save(const std::string& path, const ExtraFilesMap& extra = {}) const;
  void save(std::ostream& out, const ExtraFilesMap& extra = {}) const;
  /// Source, parameters and their values as texts.
  std::string dump_to_str(bool code, bool attributes, bool values) const;
  void dump(bool code, bool attributes, bool values) const;

 private:
  std::optional<hotaru::script::Module> module_;
};

namespace script {
using Module = torch::jit::Module;
using Method = torch::jit::Method;
}  // namespace script

/// Reads an archive, a program of torch.export (.pt2) or an ONNX model; nothing
/// in it is executed. Throws c10::Error naming file,
/// record and offset for anything but a valid one. Tensors lie in the mapped
/// file; with a device they are moved there.
Module load(const std::string& path, std::optional<at::Device> device = {},
            bool load_debug_files = true);
Module load(const std::string& path, std::optional<at::Device> device,
            ExtraFilesMap& extra, bool load_debug_files = true);
Module load(std::istream& in, std::optional<at::Device> device = {},
            bool load_debug_files = true);
Module load(std::istream& in, std::optional<at::Device> device,
            ExtraFilesMap& extra, bool load_debug_files = true);

Module load(
    const std::shared_ptr<caffe2::serialize::ReadAdapterInterface>& reader,
    std::optional<at::Device> device = {}, bool load_debug_files = true);
/// Named tensors of a file of torch.save that holds a dict of them.
std::map<std::string, at::Tensor> _load_parameters(
    const std::string& path, std::optional<at::Device> device = {});

/// A copy in evaluation mode whose attributes are constants, but for those of
/// that name.
Module freeze(const Module& module,
              const std::optional<std::vector<std::string>>& preserved = {},
              bool optimize_numerics = true);
/// freeze(), if it is not frozen yet; graphs then prepare what they can.
Module optimize_for_inference(Module& module,
                              const std::vector<std::string>& others = {});

/// Functions compiled from source.
struct CompilationUnit {
  CompilationUnit();
  explicit CompilationUnit(const std::string& source);
  explicit CompilationUnit(std::shared_ptr<hotaru::script::CompilationUnit>);
  void define(const std::string& source);
  /// Null for an unknown one. Lives as long as this unit.
  Function* find_function(const std::string& name) const;
  /// Throws: functions come by define().
  Function* create_function(const std::string& name,
                            const std::shared_ptr<Graph>& graph);
  /// Throws for an unknown function.
  template <class... Args>
  IValue run_method(const std::string& name, Args&&... args) const {
    return call(name, Stack{IValue(std::forward<Args>(args))...});
  }

 private:
  IValue call(const std::string& name, Stack inputs) const;
  std::shared_ptr<hotaru::script::CompilationUnit> unit_;
  struct Found;
  std::shared_ptr<Found> found_;
};

/// The functions of a TorchScript source text.
std::shared_ptr<CompilationUnit> compile(const std::string& source);

}  // namespace torch::jit
