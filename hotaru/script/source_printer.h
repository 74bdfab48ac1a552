// Programs back to TorchScript source, from their graphs: one printer for
// whatever they were compiled from.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hotaru/script/class_type.h"
#include "hotaru/script/function.h"

namespace hotaru::script {

/// Collects the classes and functions that a program needs, and prints them in
/// the language of PyTorch's archives. Prints the graphs as they are before
/// calls are inlined, so the text does not depend on what has run.
class SourcePrinter {
 public:
  explicit SourcePrinter(CompilationUnit& unit) : unit_(unit) {}

  /// Adds a class or named tuple, and what it needs in turn.
  void add(TypePtr type);
  void add(Function& function);
  /// Adds a module class of that name with nothing but the function as its
  /// forward.
  void add_as_module(Function& function, const std::string& class_name);

  /// Compiles all of it and returns the source text of each module, by name:
  /// "__torch__.a.b". Throws ScriptError for functions that don't compile and
  /// TypeError for constants that have no form in a file.
  std::map<std::string, std::string> print();

  /// What CONSTANTS.cN stands for in the printed text.
  const std::vector<Value>& constants() const { return constants_; }

  /// The text of a type, whose classes become part of the program.
  std::string type_text(TypePtr type);
  /// The name of a function that is no method, which becomes part of it, too.
  std::string function_text(Function& function);
  std::string constant_text(const Value& value, TypePtr type);

 private:
  void print_all();
  void print_class(ClassType& cls);
  void print_named_tuple(TypePtr type);
  std::string& text_of(const std::string& qualified_name);
  bool holds_modules(const ClassType& interface) const;

  CompilationUnit& unit_;
  std::vector<std::pair<Function*, std::string>> wrapped_;
  std::set<const void*> known_;
  std::vector<TypePtr> types_;
  std::vector<Function*> functions_;
  std::vector<Value> constants_;
  std::unordered_map<const void*, size_t> constant_indices_;
  std::map<std::string, std::string> texts_;
};

/// One function's definition, each line behind `indent` spaces. A function can
/// be printed as the method `forward` of a class that it knows nothing of.
std::string print_function(Function& function, SourcePrinter& program,
                           int indent, std::string_view method_of = {});

}  // namespace hotaru::script
