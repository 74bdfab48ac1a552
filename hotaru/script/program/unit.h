// A compilation unit: the classes, functions and types of one program.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hotaru/core/mutex.h"
#include "hotaru/ops/registry.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/resolver.h"
#include "hotaru/script/source/ast.h"
#include "hotaru/script/source/parser.h"
#include "hotaru/script/source/source.h"
#include "hotaru/script/types/type.h"

namespace hotaru::script {

/// An operator's schema in this unit's types.
struct Signature {
  const Operator* op = nullptr;
  std::vector<TypePtr> params;
  std::vector<TypePtr> results;
  bool generic = false;  // has type variables
};

/// Owns everything that a loaded program consists of. Names are looked up by
/// qualified name ("__torch__.a.b.C"); the source that defines one is parsed
/// when it is first asked for. Thread-safe through mutex().
class CompilationUnit : public std::enable_shared_from_this<CompilationUnit> {
 public:
  /// Gives the source of a module such as "__torch__.a.b", or null.
  using SourceLoader =
      std::function<std::unique_ptr<Source>(std::string_view module)>;

  static std::shared_ptr<CompilationUnit> create();
  ~CompilationUnit();

  /// Parts of an archive, beside its constants.
  struct Origin {
    /// All the modules that the loader has sources of, sorted.
    std::vector<std::string> modules;
    /// File format's version; tells PyTorch what the operators' names meant.
    int64_t version = 0;
  };

  void set_loader(SourceLoader loader) { loader_ = std::move(loader); }
  void set_origin(Origin origin) { origin_ = std::move(origin); }
  /// Null for programs that no archive holds.
  const Origin* origin() const { return origin_ ? &*origin_ : nullptr; }
  /// The source of one of the origin's modules. Throws Error.
  std::unique_ptr<Source> load_source(const std::string& module) const;
  void set_parse_limits(const ParseLimits& limits) { limits_ = limits; }
  /// Sets what CONSTANTS.cN stands for.
  void set_constants(std::vector<Value> constants) {
    constants_ = std::move(constants);
  }
  const std::vector<Value>& constants() const { return constants_; }

  TypeTable& types() { return types_; }
  RecursiveMutex& mutex() { return mutex_; }
  const Resolver& resolver() const { return *resolver_; }

  /// A class or named tuple of that name, or null. Throws ScriptError when
  /// its source is malformed.
  TypePtr find_type(std::string_view name);
  Function* find_function(std::string_view name);
  /// True if any definition's name begins with "name.".
  bool is_namespace(std::string_view name) const;

  /// Adds the definitions of a source under a prefix. Throws ScriptError.
  void define(std::unique_ptr<Source> source, std::string_view prefix);
  Function* add_function(std::unique_ptr<Function> function);
  /// Adds the function that is all the source consists of, a method if there
  /// is an owner, whose `resolver` knows the names of the place it was written
  /// at. Throws ScriptError.
  Function* add_function(std::unique_ptr<Source> source, std::string name,
                         std::unique_ptr<Resolver> resolver, ClassType* owner);
  /// Adds every function of a source, named after `prefix` or the owner.
  std::vector<Function*> add_functions(std::unique_ptr<Source> source,
                                       std::string_view prefix,
                                       std::unique_ptr<Resolver> resolver,
                                       ClassType* owner);
  /// Has every resolver let go of where its names come from. All functions are
  /// compiled; those that are added later have resolvers of their own.
  void settle_names();
  /// The type that an expression such as "List[int]" names.
  TypePtr parse_type(std::unique_ptr<Source> source, const Resolver& resolver);
  /// `name`, or with a number if another class or function has it.
  std::string unique_name(std::string_view name);
  ClassType* add_class(std::unique_ptr<ClassType> cls);

  const Signature& signature(const Operator& op);

 private:
  friend class Function;

  struct Definition {
    const Stmt* stmt = nullptr;
    TypePtr type = nullptr;
    Function* function = nullptr;
    bool busy = false;
  };

  CompilationUnit();
  Definition* find(std::string_view name);
  void load_module_of(std::string_view name);
  void define_class(const std::string& name, Definition& definition);
  void define_own_class(const OwnClass& own);
  void define_enum(const std::string& name, Definition& definition);
  void define_named_tuple(const std::string& name, Definition& definition);
  void define_hooks(ClassType& cls, const Stmt& stmt);
  void define_member(ClassType& cls, const Stmt& stmt,
                     std::map<std::string, std::string, std::less<>>& marks);

  SourceLoader loader_;
  std::optional<Origin> origin_;
  ParseLimits limits_;
  size_t syntax_bytes_ = 0;
  int class_depth_ = 0;
  int compile_depth_ = 0;
  std::vector<Value> constants_;
  RecursiveMutex mutex_;
  TypeTable types_;
  std::unique_ptr<Resolver> resolver_;
  std::vector<std::unique_ptr<Resolver>> resolvers_;
  std::set<std::string, std::less<>> taken_names_;
  int next_mangle_ = 0;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::unique_ptr<Ast>> trees_;
  std::set<std::string, std::less<>> loaded_;
  std::map<std::string, Definition, std::less<>> definitions_;
  std::vector<std::unique_ptr<ClassType>> classes_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::unordered_map<const Operator*, Signature> signatures_;
};

}  // namespace hotaru::script
