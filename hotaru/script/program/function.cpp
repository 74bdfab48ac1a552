#include "hotaru/script/program/function.h"

#include <mutex>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/stack_room.h"
#include "hotaru/script/compile/annotation.h"
#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/passes/passes.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/run/code.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru::script {

Function::Function(CompilationUnit& unit, std::string name, const Def& def,
                   const Resolver& resolver, ClassType* owner)
    : unit_(unit),
      name_(std::move(name)),
      def_(&def),
      resolver_(&resolver),
      owner_(owner) {}

Function::Function(CompilationUnit& unit, std::string name,
                   std::unique_ptr<Graph> graph, TypePtr result)
    : unit_(unit),
      name_(std::move(name)),
      resolved_(true),
      result_(result),
      graph_(std::move(graph)) {
  for (const Var* var : graph_->top().params)
    params_.push_back({.name = std::string(var->name), .type = var->type});
}

Function::~Function() = default;

std::string_view Function::short_name() const {
  return std::string_view(name_).substr(name_.rfind('.') + 1);
}

std::string_view Function::source() const {
  return def_ ? def_->range.text() : std::string_view();
}

bool Function::has_declared_result() const {
  return !def_ || def_->return_type != nullptr;
}

namespace {

// N of BroadcastingListN[T], alone or optional, else 0.
int broadcast_count(const Expr& annotation) {
  if (annotation.kind == ExprKind::kBinary)
    return broadcast_count(annotation.item(0));
  constexpr std::string_view kPrefix = "BroadcastingList";
  constexpr std::string_view kAlias = "_size_";  // of nn.common_types
  if (annotation.kind == ExprKind::kName &&
      annotation.text.starts_with(kAlias) && annotation.text.ends_with("_t")) {
    const char count = annotation.text[kAlias.size()];
    return count >= '1' && count <= '6' ? count - '0' : 0;
  }
  if (annotation.kind != ExprKind::kSubscript) return 0;
  std::string_view name = annotation.item(0).text;
  if (name == "Optional") return broadcast_count(annotation.item(1));
  bool digit = name.size() == kPrefix.size() + 1 && name.starts_with(kPrefix);
  return digit ? name.back() - '0' : 0;
}

// Type that __setstate__ is given, which is what __getstate__ returns.
TypePtr state_type(ClassType& owner, const SourceRange& range) {
  if (!owner.find_method("__getstate__")) owner.load_member("__getstate__");
  Function* getter = owner.find_method("__getstate__");
  if (!getter) {
    fail_at(range,
            "`__setstate__` defined but not `__getstate__`. You must have both "
            "defined on a ScriptModule to customize serialization.\nDid you "
            "forget to use `@torch.jit.export`?");
  }
  return getter->result_type();
}

}  // namespace

void Function::resolve_signature() {
  if (resolved_) return;
  std::vector<Parameter> params;
  for (const Param& syntax : def_->params) {
    Parameter param;
    param.name = syntax.name;
    param.keyword_only = syntax.keyword_only;
    bool is_self = owner_ && &syntax == &def_->params[0];
    if (is_self) {
      param.type = owner_->type();
    } else {
      const bool is_state = owner_ && owner_->is_module() && !syntax.type &&
                            short_name() == "__setstate__";
      param.inferred = !syntax.type && !is_state;
      param.type = is_state      ? state_type(*owner_, def_->name_range)
                   : syntax.type ? read_type(unit_, *resolver_, *syntax.type)
                                 : TypeTable::tensor();
      if (syntax.type) param.broadcast = broadcast_count(*syntax.type);
    }
    if (auto known = defaults_.find(syntax.name); known != defaults_.end()) {
      param.has_default = true;
      param.default_value = known->second;
      if (param.broadcast > 0 && known->second.is_number()) {
        param.default_value = Value::list(
            std::vector<Value>(size_t(param.broadcast), known->second));
      }
      if (!convert_value(param.default_value, param.type)) {
        fail_at(syntax.range, "Expected a default value of type ",
                param.type->annotation(), param.inferred ? " (inferred)" : "",
                " on parameter \"", param.name, "\"",
                param.inferred ? concat(". Because \"", param.name,
                                        "\" was not annotated with an explicit "
                                        "type it is assumed to be type "
                                        "'Tensor'")
                               : "");
      }
    } else if (syntax.default_value) {
      param.has_default = true;
      param.default_value =
          read_constant(unit_, *syntax.default_value, param.type);
    }
    params.push_back(std::move(param));
  }
  if (owner_ && params.empty()) {
    fail_at(def_->name_range,
            "methods must have a self argument: the non-static method '",
            def_->name, "' does not have a self argument");
  }
  if (def_->return_type)
    result_ = read_type(unit_, *resolver_, *def_->return_type);
  params_ = std::move(params);
  resolved_ = true;
}

const std::vector<Parameter>& Function::params() {
  if (ready_.load(std::memory_order_acquire)) return params_;
  std::lock_guard lock(unit_.mutex());
  resolve_signature();
  return params_;
}

TypePtr Function::result_type() {
  if (ready_.load(std::memory_order_acquire)) return result_;
  std::lock_guard lock(unit_.mutex());
  resolve_signature();
  if (!result_) graph();
  return result_;
}

Graph& Function::graph() {
  std::lock_guard lock(unit_.mutex());
  if (graph_) return *graph_;
  if (compiling_) {
    fail_at(def_->name_range, "function '", def_->name,
            "' is called recursively; declare its result's type");
  }
  // Functions without declared results are compiled where they are called.
  constexpr int kMaxDepth = 1000;
  struct Compiling {
    Compiling(bool& flag, int& depth) : flag(flag), depth(depth) {
      flag = true;
      ++depth;
    }
    ~Compiling() {
      flag = false;
      --depth;
    }
    bool& flag;
    int& depth;
  } compiling(compiling_, unit_.compile_depth_);
  if (unit_.compile_depth_ > kMaxDepth || stack_is_low()) {
    fail_at(def_->name_range,
            "calls of functions without declared results "
            "are nested more than ",
            unit_.compile_depth_ - 1, " levels deep");
  }
  auto graph = std::make_unique<Graph>();
  TypePtr result = FunctionCompiler(*this, *graph).compile();
  simplify(*graph);
  result_ = result;
  graph_ = std::move(graph);
  return *graph_;
}

std::unique_ptr<Graph> Function::compile_again() {
  std::lock_guard lock(unit_.mutex());
  HOTARU_CHECK(def_, "internal error: '", name_, "' has no source");
  graph();  // catches endless recursion
  auto graph = std::make_unique<Graph>();
  FunctionCompiler(*this, *graph).compile();
  simplify(*graph);
  return graph;
}

const Code& Function::code() {
  if (const Code* ready = ready_.load(std::memory_order_acquire)) return *ready;
  std::lock_guard lock(unit_.mutex());
  if (!code_) {
    Graph& own = graph();
    inline_calls(own);
    simplify(own);
    widen_constants(own);
    code_ = std::make_unique<Code>(*this, own);
    ready_.store(code_.get(), std::memory_order_release);
  }
  return *code_;
}

std::string Function::schema() {
  std::string out = concat(short_name(), "(");
  bool by_name = false;
  for (const Parameter& param : params()) {
    if (&param != &params_[0]) out += ", ";
    if (param.keyword_only && !by_name) out += "*, ";
    by_name |= param.keyword_only;
    std::string type = param.type->str();
    if (size_t list = type.find("[]");
        param.broadcast > 0 && list != std::string::npos)
      type.insert(list + 1, std::to_string(param.broadcast));
    out += concat(type, " ", param.name);
    if (param.has_default) {
      const Value& value = param.default_value;
      out += value.is_string() ? concat("=\"", value.as_string(), "\"")
                               : concat("=", value_text(value));
    }
  }
  return concat(out, ") -> ", result_type()->str());
}

void Function::check_argument(size_t i, Value& value) {
  const Parameter& param = params_[i];
  // Plain tensors, the common case, need no further look.
  if (param.type->kind == TypeKind::kTensor && value.is_tensor()) return;
  if (param.broadcast > 0 && value.is_number())
    value = Value::list(std::vector<Value>(size_t(param.broadcast), value));
  if (convert_value(value, param.type)) return;
  std::string details;
  const bool maybe_none = param.type->kind == TypeKind::kOptional;
  if ((maybe_none ? param.type->item() : param.type)->kind ==
      TypeKind::kUnion) {
    const std::lock_guard lock(unit_.mutex());
    const TypePtr given = type_of(unit_.types(), value);
    details = concat("\nCast error details: Expected a member of ",
                     param.type->annotation(), " but instead found type ",
                     given ? given->annotation() : value.type_name());
  }
  fail<TypeError>(
      short_name(), "() Expected a value of type '", param.type->annotation(),
      param.inferred ? " (inferred)" : "", "' for argument '", param.name,
      "' but instead found type '", value.type_name(), "'.",
      interface_trouble(value, param.type), "\n",
      param.inferred
          ? concat("Inferred '", param.name,
                   "' to be of type 'Tensor' because it was not annotated with "
                   "an explicit type.\n")
          : "",
      "Position: ", i, "\nDeclaration: ", schema(), details);
}

std::vector<Value> Function::bind(
    std::vector<Value> arguments,
    std::vector<std::pair<std::string, Value>> keywords) {
  const std::vector<Parameter>& wanted = params();
  if (arguments.size() > wanted.size()) {
    fail<TypeError>(short_name(), "() expected at most ", wanted.size(),
                    " argument(s) but received ", arguments.size(),
                    " argument(s). Declaration: ", schema());
  }
  size_t given = arguments.size();
  arguments.resize(wanted.size());
  std::vector<bool> filled(wanted.size(), false);
  for (size_t i = 0; i < given; ++i) filled[i] = true;
  const std::string* unknown = nullptr;
  for (auto& [name, value] : keywords) {
    size_t i = 0;
    while (i < wanted.size() && wanted[i].name != name) ++i;
    if (i == wanted.size()) {  // told if nothing else is missing
      if (!unknown) unknown = &name;
      continue;
    }
    if (filled[i])
      fail<TypeError>(short_name(), "() argument '", name, "' is given twice");
    filled[i] = true;
    arguments[i] = std::move(value);
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (filled[i]) {
      check_argument(i, arguments[i]);
    } else if (wanted[i].has_default) {
      arguments[i] = wanted[i].default_value;
    } else {
      fail<TypeError>(short_name(), "() is missing value for argument '",
                      wanted[i].name, "'. Declaration: ", schema());
    }
  }
  if (unknown) {
    fail<TypeError>("Unknown keyword argument '", *unknown, "' for operator '",
                    short_name(), "'.");
  }
  return arguments;
}

Value Function::operator()(std::vector<Value> arguments) {
  return run(code(), bind(std::move(arguments), {}));
}

}  // namespace hotaru::script
