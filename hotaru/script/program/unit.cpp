#include "hotaru/script/program/unit.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/runtime/threads/stack_room.h"
#include "hotaru/script/compile/annotation.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/program/autocast_source.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/program/upgraders.h"
#include "hotaru/script/run/foreign.h"
#include "hotaru/script/source/script_error.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

constexpr std::string_view kOwnClasses = "__torch__.torch.classes.";

/// A method of a class that C++ defined, as compiled code calls it.
struct OwnCall : ForeignFunction {
  explicit OwnCall(const OwnMethod& method) : method(method) {}
  Value call(const std::vector<Value>& arguments) const override {
    return call_own_method(method, arguments);
  }
  const OwnMethod& method;
};

/// Resolver of what the text of such a method names.
class OwnResolver : public ArchiveResolver {
 public:
  OwnResolver(CompilationUnit& unit, const OwnMethod& method)
      : ArchiveResolver(unit), function_(make_ref<OwnCall>(method)) {}
  Meaning name(std::string_view name) const override {
    if (name == "__function")
      return {.kind = Meaning::Kind::kValue,
              .value = Value::from_object(function_),
              .type = TypeTable::any()};
    if (name == "__call_foreign")
      return {.kind = Meaning::Kind::kBuiltin, .text = "call_foreign"};
    return ArchiveResolver::name(name);
  }

 private:
  Ref<OwnCall> function_;
};

// Classes that hold classes that hold classes: as deep as any model's tree.
constexpr int kMaxClassDepth = 2000;

bool has_base(const Class& cls, std::string_view name) {
  return std::any_of(cls.bases.begin(), cls.bases.end(), [&](const Expr* base) {
    return (base->kind == ExprKind::kName ||
            base->kind == ExprKind::kAttribute) &&
           base->text == name;
  });
}

std::string_view before_last_dot(std::string_view name) {
  size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view()
                                       : name.substr(0, dot);
}

// The member that a class statement defines: `x` of `x : int` and "0" of
// `__annotations__["0"] = T`. Empty for anything else.
std::string_view member_name(const Expr& target) {
  if (target.kind == ExprKind::kName) return target.text;
  if (target.kind == ExprKind::kSubscript && target.items.size() == 2 &&
      target.item(0).kind == ExprKind::kName &&
      target.item(0).text == "__annotations__" &&
      target.item(1).kind == ExprKind::kString)
    return target.item(1).text;
  return {};
}

// The strings of `name = ["a", "b", ]`.
std::span<const Expr* const> name_list(const Stmt& stmt) {
  if (!stmt.value || stmt.value->kind != ExprKind::kList)
    fail_at(stmt.range, "expected a list of names");
  for (const Expr* item : stmt.value->items)
    if (item->kind != ExprKind::kString)
      fail_at(item->range, "expected a name in quotes");
  return stmt.value->items;
}

bool is_final(const Expr* annotation) {
  return annotation && annotation->kind == ExprKind::kSubscript &&
         annotation->item(0).kind == ExprKind::kName &&
         annotation->item(0).text == "Final";
}

}  // namespace

CompilationUnit::CompilationUnit()
    : resolver_(std::make_unique<ArchiveResolver>(*this)) {
  types_.set_class_finder(
      [this](std::string_view name) { return find_type(name); });
}

CompilationUnit::~CompilationUnit() = default;

std::shared_ptr<CompilationUnit> CompilationUnit::create() {
  return std::shared_ptr<CompilationUnit>(new CompilationUnit());
}

std::unique_ptr<Source> CompilationUnit::load_source(
    const std::string& module) const {
  auto source = loader_ ? loader_(module) : nullptr;
  HOTARU_CHECK(source, "the program has no module '", module, "'");
  return source;
}

void CompilationUnit::define(std::unique_ptr<Source> source,
                             std::string_view prefix) {
  ParseLimits limits = limits_;
  limits.memory -= std::min(limits.memory, syntax_bytes_);
  // Kept before anything points into them, whatever happens below.
  trees_.push_back(parse_module(*source, limits));
  sources_.push_back(std::move(source));
  const Ast& tree = *trees_.back();
  syntax_bytes_ += tree.memory_used();
  for (const Stmt* stmt : tree.statements) {
    std::string_view name =
        stmt->kind == StmtKind::kDef ? stmt->def->name : stmt->cls->name;
    std::string qualified =
        prefix.empty() ? std::string(name) : concat(prefix, ".", name);
    if (!definitions_.emplace(qualified, Definition{.stmt = stmt}).second)
      fail_at(stmt->range, "'", qualified, "' is defined twice");
  }
}

void CompilationUnit::load_module_of(std::string_view name) {
  std::string module(before_last_dot(name));
  if (module.empty() || !loaded_.insert(module).second) return;
  auto source = autocast_source(module);
  if (!source) source = upgraders_source(module);
  if (!source && loader_) source = loader_(module);
  if (source) define(std::move(source), module);
}

CompilationUnit::Definition* CompilationUnit::find(std::string_view name) {
  auto found = definitions_.find(name);
  if (found == definitions_.end()) {
    if (name.starts_with(kOwnClasses)) {
      if (const OwnClass* own = find_own_class(name)) define_own_class(*own);
    } else {
      load_module_of(name);
    }
    found = definitions_.find(name);
    if (found == definitions_.end()) return nullptr;
  }
  return &found->second;
}

bool CompilationUnit::is_namespace(std::string_view name) const {
  return name.starts_with("__torch__");
}

TypePtr CompilationUnit::find_type(std::string_view name) {
  std::lock_guard lock(mutex_);
  Definition* definition = find(name);
  if (!definition) return nullptr;
  if (definition->type || !definition->stmt ||
      definition->stmt->kind != StmtKind::kClass)
    return definition->type;
  const Class& cls = *definition->stmt->cls;
  if (definition->busy)
    fail_at(cls.range, "'", name, "' is defined by means of itself");
  if (++class_depth_ > kMaxClassDepth || stack_is_low()) {
    const int depth = std::exchange(class_depth_, 0) - 1;
    fail_at(cls.range, "classes refer to each other more than ", depth,
            " levels deep");
  }
  definition->busy = true;
  if (has_base(cls, "Enum"))
    define_enum(std::string(name), *definition);
  else if (has_base(cls, "NamedTuple"))
    define_named_tuple(std::string(name), *definition);
  else
    define_class(std::string(name), *definition);
  definition->busy = false;
  --class_depth_;
  return definition->type;
}

Function* CompilationUnit::find_function(std::string_view name) {
  std::lock_guard lock(mutex_);
  Definition* definition = find(name);
  if (!definition) return nullptr;
  if (!definition->function && definition->stmt &&
      definition->stmt->kind == StmtKind::kDef) {
    definition->function = add_function(std::make_unique<Function>(
        *this, std::string(name), *definition->stmt->def, *resolver_, nullptr));
  }
  return definition->function;
}

Function* CompilationUnit::add_function(std::unique_ptr<Function> function) {
  functions_.push_back(std::move(function));
  return functions_.back().get();
}

Function* CompilationUnit::add_function(std::unique_ptr<Source> source,
                                        std::string name,
                                        std::unique_ptr<Resolver> resolver,
                                        ClassType* owner) {
  std::lock_guard lock(mutex_);
  trees_.push_back(parse_module(*source, limits_));
  sources_.push_back(std::move(source));
  std::span<const Stmt* const> statements = trees_.back()->statements;
  if (statements.size() != 1 || statements[0]->kind != StmtKind::kDef) {
    SourceRange all = {sources_.back().get(), 0, 1};
    fail_at(all, "Expected a single top-level function");
  }
  resolvers_.push_back(std::move(resolver));
  return add_function(std::make_unique<Function>(
      *this, std::move(name), *statements[0]->def, *resolvers_.back(), owner));
}

std::vector<Function*> CompilationUnit::add_functions(
    std::unique_ptr<Source> source, std::string_view prefix,
    std::unique_ptr<Resolver> resolver, ClassType* owner) {
  std::lock_guard lock(mutex_);
  trees_.push_back(parse_module(*source, limits_));
  sources_.push_back(std::move(source));
  resolvers_.push_back(std::move(resolver));
  std::vector<Function*> out;
  for (const Stmt* stmt : trees_.back()->statements) {
    if (stmt->kind != StmtKind::kDef)
      fail_at(stmt->range, "expected nothing but functions");
    std::string name = concat(prefix, ".", stmt->def->name);
    out.push_back(add_function(
        std::make_unique<Function>(*this, owner ? name : unique_name(name),
                                   *stmt->def, *resolvers_.back(), owner)));
  }
  return out;
}

void CompilationUnit::settle_names() {
  std::lock_guard lock(mutex_);
  for (const auto& resolver : resolvers_) resolver->settle();
}

TypePtr CompilationUnit::parse_type(std::unique_ptr<Source> source,
                                    const Resolver& resolver) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Ast> tree = parse_expression(*source, limits_);
  return read_type(*this, resolver, *tree->expression);
}

std::string CompilationUnit::unique_name(std::string_view name) {
  std::lock_guard lock(mutex_);
  std::string out(name);
  while (!taken_names_.insert(out).second) {
    size_t dot = name.rfind('.') + 1;
    out = concat(name.substr(0, dot), "___torch_mangle_", next_mangle_++, ".",
                 name.substr(dot));
  }
  return out;
}

ClassType* CompilationUnit::add_class(std::unique_ptr<ClassType> cls) {
  classes_.push_back(std::move(cls));
  ClassType* added = classes_.back().get();
  added->set_type(types_.class_type(added));
  definitions_[added->name()].type = added->type();
  return added;
}

void CompilationUnit::define_named_tuple(const std::string& name,
                                         Definition& definition) {
  std::vector<std::string> fields;
  std::vector<TypePtr> items;
  for (const Stmt* stmt : definition.stmt->cls->body) {
    if (stmt->kind == StmtKind::kPass) continue;
    if (stmt->kind != StmtKind::kAssign || stmt->targets.size() != 1 ||
        !stmt->annotation)
      fail_at(stmt->range, "expected a field with a type in a NamedTuple");
    fields.emplace_back(member_name(*stmt->targets[0]));
    if (fields.back().empty()) fail_at(stmt->range, "expected a field's name");
    items.push_back(read_type(*this, *resolver_, *stmt->annotation));
  }
  definition.type =
      types_.named_tuple(name, std::move(fields), std::move(items));
}

void CompilationUnit::define_enum(const std::string& name,
                                  Definition& definition) {
  const Class& cls = *definition.stmt->cls;
  std::vector<std::pair<std::string, Value>> members;
  for (const Stmt* stmt : cls.body) {
    if (stmt->kind == StmtKind::kPass) continue;
    std::string_view member =
        stmt->kind == StmtKind::kAssign && stmt->targets.size() == 1
            ? member_name(*stmt->targets[0])
            : std::string_view();
    if (member.empty() || !stmt->value)
      fail_at(stmt->range, "expected a member with a value in an Enum class");
    members.emplace_back(member, read_constant(*this, *stmt->value, nullptr));
  }
  try {
    definition.type = types_.enumeration(make_enum(name, std::move(members)));
  } catch (const ScriptError&) {
    throw;
  } catch (const Error& e) {
    fail_at(cls.range, e.what());
  }
}

void CompilationUnit::define_class(const std::string& name,
                                   Definition& definition) {
  const Class& syntax = *definition.stmt->cls;
  ClassType::Kind kind =
      has_base(syntax, "Module")            ? ClassType::Kind::kModule
      : has_base(syntax, "Interface")       ? ClassType::Kind::kInterface
      : has_base(syntax, "ModuleInterface") ? ClassType::Kind::kModuleInterface
                                            : ClassType::Kind::kObject;
  if (!syntax.bases.empty() && kind == ClassType::Kind::kObject &&
      !has_base(syntax, "object")) {
    fail_at(syntax.range, "classes cannot inherit from '",
            syntax.bases[0]->range.text(), "'");
  }
  // Registered before its members are read, for they may refer to it.
  definition.busy = false;
  ClassType* cls = add_class(std::make_unique<ClassType>(*this, name, kind));
  std::map<std::string, std::string, std::less<>> marks;
  for (const Stmt* stmt : syntax.body) define_member(*cls, *stmt, marks);
  for (const Stmt* stmt : syntax.body) define_hooks(*cls, *stmt);
}

// Each method is a function of its signature that calls C++.
void CompilationUnit::define_own_class(const OwnClass& own) {
  ClassType* cls = add_class(
      std::make_unique<ClassType>(*this, own.name(), ClassType::Kind::kObject));
  cls->set_own(&own);
  for (const auto& method : own.methods()) {
    if (method->is_static) continue;
    const Schema& schema = method->schema;
    std::map<std::string, Value, std::less<>> defaults;
    std::string header = "self", given = "self, ";
    for (size_t i = 1; i < schema.arguments.size(); ++i) {
      const Argument& argument = schema.arguments[i];
      header += concat(", ", argument.name, ": ",
                       types_.parse_schema(argument.type.text)->annotation());
      given += argument.name + ", ";
      if (!argument.default_value) continue;
      header += "=None";
      defaults[argument.name] = *argument.default_value;
    }
    std::string call = concat("__call_foreign(__function, (", given, "))");
    std::string result = "None";
    if (!schema.results.empty()) {
      std::vector<TypePtr> items;
      for (const Argument& item : schema.results)
        items.push_back(types_.parse_schema(item.type.text));
      result = (items.size() == 1 ? items[0] : types_.tuple(std::move(items)))
                   ->annotation();
      call = concat("return unchecked_cast(", result, ", ", call, ")");
    }
    Function* function = add_function(
        std::make_unique<Source>(
            own.name(), concat("def ", method->name, "(", header, ") -> ",
                               result, ":\n    ", call, "\n")),
        concat(own.name(), ".", method->name),
        std::make_unique<OwnResolver>(*this, *method), cls);
    function->set_defaults(std::move(defaults));
    cls->add_method(method->name, function);
    if (!method->is_property) continue;
    const std::string property =
        method->name.substr(0, method->name.rfind("_getter"));
    cls->add_method(property, function);
    cls->add_property(property);
  }
}

// The lists of hooks' names, which stand before the methods.
void CompilationUnit::define_hooks(ClassType& cls, const Stmt& stmt) {
  if (stmt.kind != StmtKind::kAssign || stmt.targets.size() != 1) return;
  std::string_view list = member_name(*stmt.targets[0]);
  bool before = list == "__forward_pre_hooks__";
  if (!before && list != "__forward_hooks__") return;
  for (const Expr* item : name_list(stmt)) {
    Function* hook = cls.find_method(item->text);
    if (!hook) fail_at(item->range, "there is no hook '", item->text, "'");
    cls.add_hook(
        before ? ClassType::HookTime::kBefore : ClassType::HookTime::kAfter,
        hook);
  }
}

// `marks` maps attribute names to "p" for parameters and "b" for buffers.
void CompilationUnit::define_member(
    ClassType& cls, const Stmt& stmt,
    std::map<std::string, std::string, std::less<>>& marks) {
  if (stmt.kind == StmtKind::kPass) return;
  if (stmt.kind == StmtKind::kExpr && stmt.value->kind == ExprKind::kString)
    return;  // a docstring
  if (stmt.kind == StmtKind::kDef) {
    const Def& def = *stmt.def;
    if (cls.find_method(def.name))
      fail_at(def.name_range, "method '", def.name, "' is defined twice");
    Function* method = add_function(std::make_unique<Function>(
        *this, concat(cls.name(), ".", def.name), def, *resolver_, &cls));
    cls.add_method(std::string(def.name), method);
    return;
  }
  std::string_view name =
      stmt.kind == StmtKind::kAssign && stmt.targets.size() == 1
          ? member_name(*stmt.targets[0])
          : std::string_view();
  if (name.empty()) fail_at(stmt.range, "unexpected statement in a class");
  constexpr std::array<std::string_view, 2> kLists = {"__parameters__",
                                                      "__buffers__"};
  if (name == kLists[0] || name == kLists[1]) {
    for (const Expr* item : name_list(stmt))
      marks[std::string(item->text)] = name == kLists[0] ? "p" : "b";
    return;
  }
  if (name.starts_with("__") && name.ends_with("__") && !stmt.annotation)
    return;  // __constants__ and the lists of hooks' names
  if (is_final(stmt.annotation)) {
    if (!stmt.value) fail_at(stmt.range, "a Final attribute needs a value");
    TypePtr type = read_type(*this, *resolver_, stmt.annotation->item(1));
    cls.add_constant(std::string(name),
                     read_constant(*this, *stmt.value, type));
    return;
  }
  const Expr* annotation = stmt.annotation ? stmt.annotation : stmt.value;
  if (cls.find_attribute(name) >= 0)
    fail_at(stmt.range, "attribute '", name, "' is defined twice");
  Attribute attribute;
  attribute.name = name;
  attribute.type = read_type(*this, *resolver_, *annotation);
  if (auto mark = marks.find(name); mark != marks.end()) {
    attribute.is_parameter = mark->second == "p";
    attribute.is_buffer = mark->second == "b";
  }
  cls.add_attribute(std::move(attribute));
}

const Signature& CompilationUnit::signature(const Operator& op) {
  auto [found, added] = signatures_.try_emplace(&op);
  Signature& signature = found->second;
  if (!added) return signature;
  signature.op = &op;
  auto read = [&](const Argument& argument) {
    TypePtr type = types_.parse_schema(argument.type.text);
    signature.generic |= has_variables(type);
    return type;
  };
  for (const Argument& argument : op.schema().arguments)
    signature.params.push_back(read(argument));
  for (const Argument& result : op.schema().results)
    signature.results.push_back(read(result));
  return signature;
}

}  // namespace hotaru::script
