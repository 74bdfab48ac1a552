// A loaded module, as C++ and Python use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/core/value.h"

namespace hotaru::script {

class ClassType;
class Function;

using KeywordArguments = std::vector<std::pair<std::string, Value>>;

/// A handle to a module object; copying shares it. Calls may run in several
/// threads at once if the module's code does not set attributes.
class Module {
 public:
  /// Throws TypeError unless the object is a module.
  explicit Module(Ref<InstanceObject> object);

  const Ref<InstanceObject>& object() const { return object_; }
  ClassType& type() const { return *type_; }
  /// The class's qualified name.
  const std::string& type_name() const;

  /// Calls forward, with the module's hooks.
  Value operator()(std::vector<Value> arguments,
                   KeywordArguments keywords = {}) const;
  /// Calls a method. Throws Error for an unknown method, TypeError for
  /// arguments that don't fit, ScriptError if it does not compile and
  /// ExecutionError for whatever happens while it runs.
  Value call(std::string_view method, std::vector<Value> arguments,
             KeywordArguments keywords = {}) const;
  bool has_method(std::string_view name) const;
  /// The method, to look at its parameters, graph or code. Throws Error.
  Function& method(std::string_view name) const;
  std::vector<std::string> method_names() const;

  /// An attribute or constant. Throws Error when there is none.
  Value attribute(std::string_view name) const;
  bool has_attribute(std::string_view name) const;
  /// Throws Error for unknown attributes and for the wrong type.
  void set_attribute(std::string_view name, Value value) const;

  /// Names with dots and values, depth first, in the order of definition.
  std::vector<std::pair<std::string, Tensor>> named_parameters(
      bool recurse = true) const;
  std::vector<std::pair<std::string, Tensor>> named_buffers(
      bool recurse = true) const;
  std::vector<std::pair<std::string, Module>> named_children() const;
  /// This module, named "", and all below it.
  std::vector<std::pair<std::string, Module>> named_modules() const;

  /// A module of the same class with copies of all tensors, lists and modules;
  /// what is shared within this one is shared within the copy.
  Module copy() const;

  /// Sets `training` here and below.
  void train(bool on = true) const;
  void eval() const { train(false); }
  /// Moves parameters and buffers; a dtype converts floating-point tensors
  /// only.
  void to(std::optional<Device> device, std::optional<DType> dtype) const;

  /// Writes an archive; see save() in archive.h.
  void save(const std::string& path) const;

  /// TorchScript source of a method: as the archive has it, or printed from
  /// its graph. `constants`, if given, receives what its CONSTANTS.c0, c1 and
  /// so on are.
  std::string code(std::string_view method = "forward",
                   std::vector<Value>* constants = nullptr) const;
  /// TorchScript's textual form of a method's graph, calls not inlined.
  std::string graph(std::string_view method = "forward") const;

 private:
  std::vector<std::pair<std::string, Tensor>> named_tensors(bool recurse,
                                                            bool buffers) const;

  Ref<InstanceObject> object_;
  ClassType* type_;
};

/// A value with copies of all tensors, lists, dicts and instances in it, as
/// Module::copy makes them.
Value deep_copy(const Value& value);

}  // namespace hotaru::script
