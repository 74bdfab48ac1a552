// Programs back to TorchScript source, from their graphs: one printer for
// whatever they were compiled from.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"

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
  /// Adds a class of that name whose text the caller prints, at each pass.
  void add_class(std::string name, std::function<std::string()> text) {
    given_.emplace_back(std::move(name), std::move(text));
  }
  /// Module classes are the caller's business; a type that names one elsewhere
  /// is an error.
  void leave_out_modules() { leaves_out_modules_ = true; }

  bool leaves_out_modules() const { return leaves_out_modules_; }

  /// Compiles all of it and returns the source text of each module, by name:
  /// "__torch__.a.b". Throws ScriptError for functions that don't compile and
  /// TypeError for constants that have no form in a file.
  std::map<std::string, std::string> print();

  /// Values that CONSTANTS.cN stands for in the printed text.
  const std::vector<Value>& constants() const { return constants_; }

  /// The text of a type, whose classes become part of the program.
  std::string type_text(TypePtr type);
  /// The name of a function that is no method, which becomes part of it, too.
  std::string function_text(Function& function);
  std::string constant_text(const Value& value, TypePtr type);
  /// The names of a module's hooks.
  static std::string hook_lines(const ClassType& cls);
  /// The Final attributes of a class.
  std::string constant_lines(const ClassType& cls);

 private:
  void print_all();
  void print_class(ClassType& cls);
  void print_named_tuple(TypePtr type);
  void print_enum(TypePtr type);
  std::string& text_of(const std::string& qualified_name);

  CompilationUnit& unit_;
  bool leaves_out_modules_ = false;
  std::vector<std::pair<std::string, std::function<std::string()>>> given_;
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

/// A method's definition with this graph for its body, in this class.
std::string print_graph(Function& method, const Graph& graph,
                        const std::string& class_name, SourcePrinter& program,
                        int indent);

/// Lines and list elements of a class: `  name : T` and `"name", `.
std::string attribute_line(std::string_view name, std::string_view type);
std::string quoted_item(std::string_view name);

}  // namespace hotaru::script
