// Modules for programs that come from other formats: tensors under dotted
// names, and methods written in TorchScript.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hotaru/core/tensor.h"
#include "hotaru/script/program/module.h"
#include "hotaru/script/program/unit.h"

namespace hotaru::exchange {

/// A module in the making. A tensor "layers.0.weight" becomes the attribute
/// `weight` of the module `0` of the module `layers`, so state dicts, moves
/// and training see what they see in a module of Python's. Every module has a
/// `training`; only the root has methods.
class ModuleTree {
 public:
  /// kAttribute: neither parameter nor buffer, and stays where it is.
  enum class Role : uint8_t { kParameter, kBuffer, kAttribute };

  /// `class_name` is the root's, below __torch__: "ExportedProgram". `unit`
  /// may hold functions that the methods call.
  ModuleTree(std::shared_ptr<script::CompilationUnit> unit,
             std::string class_name);
  ~ModuleTree();
  ModuleTree(const ModuleTree&) = delete;
  ModuleTree& operator=(const ModuleTree&) = delete;

  /// Throws Error for a name that is taken, has an empty part, or goes more
  /// than 100 modules deep. Parameters of floating-point types require
  /// gradients.
  void add(std::string_view name, Tensor tensor, Role role);
  bool has(std::string_view name) const;

  /// How a method of the root reads it: `self.layers.weight`,
  /// `getattr(self.layers, "0").weight`.
  static std::string expression(std::string_view name);

  /// The module. `methods` are definitions at the beginning of a line, whose
  /// first parameter is `self`; `file` names their text in errors, `resolver`
  /// knows its names. Compiled when they first run. Throws ScriptError for
  /// text that does not parse.
  script::Module finish(const std::string& file, std::string methods,
                        std::unique_ptr<script::Resolver> resolver,
                        bool training);
  /// With the names that archives know.
  script::Module finish(const std::string& file, std::string methods,
                        bool training);

 private:
  struct Node;

  std::shared_ptr<script::CompilationUnit> unit_;
  std::unique_ptr<Node> root_;
};

}  // namespace hotaru::exchange
