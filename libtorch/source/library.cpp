#include "torch/library.h"

#include <map>
#include <mutex>
#include <set>

#include "ATen/core/dispatch/Dispatcher.h"
#include "c10/core/impl/LocalDispatchKeySet.h"
#include "hotaru/core/mutex.h"

namespace torch {

namespace own = hotaru::own;

namespace {

/// Which block defines a namespace: there is one.
struct Owners {
  hotaru::Mutex mutex;
  std::map<std::string, std::string> source_of;
};
Owners& owners() {
  static Owners& known = *new Owners;
  return known;
}

constexpr const char* kKindNames[] = {"TORCH_LIBRARY", "TORCH_LIBRARY_IMPL",
                                      "TORCH_LIBRARY_FRAGMENT"};

/// "int[2] x" and "SymInt[] x" are int[] in C++.
std::string plain_type(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 6, "SymInt") == 0) i += 3;
    const bool length =
        text[i] >= '0' && text[i] <= '9' && !out.empty() && out.back() == '[';
    if (length)
      while (i < text.size() && text[i] != ']') ++i;
    out += text[i];
  }
  return out;
}

/// Difference that makes the kernel's types others than the schema's; "" if
/// nothing.
std::string difference(const hotaru::Schema& wanted,
                       const hotaru::Schema& given) {
  const auto compare = [](const auto& a, const auto& b, const char* what) {
    if (a.size() != b.size())
      return c10::str("The number of ", what, "s is different. ", a.size(),
                      " vs ", b.size(), ".");
    for (size_t i = 0; i < a.size(); ++i) {
      const std::string x = plain_type(a[i].type.text);
      const std::string y = plain_type(b[i].type.text);
      if (x != y)
        return c10::str("Type mismatch in ", what, " ", i + 1, ": ", x, " vs ",
                        y, ".");
    }
    return std::string();
  };
  const std::string reason =
      compare(wanted.arguments, given.arguments, "argument");
  return reason.empty() ? compare(wanted.results, given.results, "return")
                        : reason;
}

}  // namespace

struct Library::State {
  Kind kind;
  std::string space;
  std::optional<c10::DispatchKey> key;
  std::string source;
  std::vector<own::Undo> undo;

  std::string title() const {
    return c10::str(kKindNames[kind], " block (", space, ")");
  }
  /// "name" of "space::name"; throws for another namespace.
  std::string local(const std::string& name) const {
    const size_t at = name.find("::");
    if (at == std::string::npos || at > name.find('(')) return name;
    TORCH_CHECK(
        name.substr(0, at) == space, "Explicitly provided namespace (",
        name.substr(0, at), ") in schema string does not match namespace of ",
        "enclosing ", title(), ".  Move this definition to the (unique) ",
        "TORCH_LIBRARY block corresponding to this namespace (and consider ",
        "deleting the namespace from your schema string.)  (Error occurred "
        "while processing ",
        source, ")");
    return name.substr(at + 2);
  }
};

Library::Library(Kind kind, std::string space,
                 std::optional<c10::DispatchKey> key, const char* file,
                 uint32_t line)
    : state_(new State{
          kind, std::move(space), key, c10::str(file, ":", line), {}}) {
  if (kind != DEF) return;
  TORCH_CHECK(state_->space != "_",
              "TORCH_LIBRARY cannot be used to define "
              "operators in the namespace _, which stands for all");
  Owners& known = owners();
  const std::lock_guard lock(known.mutex);
  const auto [at, added] =
      known.source_of.try_emplace(state_->space, state_->source);
  TORCH_CHECK(
      added,
      "Only a single TORCH_LIBRARY can be used to register the "
      "namespace ",
      state_->space,
      "; please put all of your definitions in a single "
      "TORCH_LIBRARY block.  If you were trying to specify implementations, "
      "consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you "
      "really intended to define operators for a single namespace in a "
      "distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly "
      "indicate this.  Previous registration of TORCH_LIBRARY was ",
      at->second, "; latest registration was ", state_->source);
}

Library::Library(Library&&) noexcept = default;

Library::~Library() {
  if (!state_) return;
  while (!state_->undo.empty()) {
    state_->undo.back()();
    state_->undo.pop_back();
  }
  if (state_->kind != DEF) return;
  Owners& known = owners();
  const std::lock_guard lock(known.mutex);
  known.source_of.erase(state_->space);
}

Library& Library::def(const std::string& schema, const std::vector<at::Tag>&) {
  return define(schema, /*conservative=*/false);
}

Library& Library::define(const std::string& schema, bool conservative) {
  TORCH_CHECK(state_->kind != IMPL,
              "def(...): Cannot define an operator inside of a ",
              state_->title(),
              ".  All def()s should be placed in the (unique) "
              "TORCH_LIBRARY block for their namespace.  (Error occurred while "
              "processing ",
              state_->source, ")");
  own::Undo undo;
  own::define(state_->space, state_->local(schema),
              c10::str("registered at ", state_->source), &undo, conservative);
  state_->undo.push_back(std::move(undo));
  return *this;
}

Library& Library::define(const std::string& name_or_schema, CppFunction f) {
  std::string text = state_->local(name_or_schema);
  const bool inferred = text.find('(') == std::string::npos;
  if (inferred) {
    TORCH_CHECK(f.native_.schema, "def(\"", text,
                "\", ...): a boxed function has no types that a schema could "
                "be inferred from; give the schema");
    text += *f.native_.schema;
  }
  define(text, inferred);
  return implement(text.substr(0, text.find('(')), std::move(f));
}

Library& Library::implement(const std::string& name, CppFunction f) {
  const std::string qualified = state_->space + "::" + state_->local(name);
  const std::optional<c10::DispatchKey> key = f.key_ ? f.key_ : state_->key;
  TORCH_CHECK(!(f.key_ && state_->key) || *f.key_ == *state_->key, "impl(\"",
              name, "\", ...): Explicitly provided dispatch key (", *f.key_,
              ") is inconsistent with the dispatch key of the "
              "enclosing ",
              state_->title(), " block");
  const auto known =
      own::find_key(key ? c10::toString(*key) : "CompositeImplicitAutograd");
  if (!known) return *this;  // no tensor here has such a key
  if (const own::OwnOperator* op = own::find(qualified);
      op && f.native_.schema) {
    const auto given = hotaru::Schema::parse("_" + *f.native_.schema);
    const std::string reason = difference(op->schema(), given);
    TORCH_CHECK(reason.empty(),
                "Inferred operator schema for a C++ kernel function "
                "doesn't match the expected function schema.\n  operator: ",
                qualified, "\n  expected schema: ", op->schema().str(),
                "\n    ", op->source(),
                "\n  inferred schema: ", *f.native_.schema, "\n    ",
                "registered at ", state_->source, "\n  reason: ", reason);
  }
  own::BoxedKernel kernel = std::move(f.native_.kernel);
  if (f.boxed_)
    kernel = [function = f.boxed_, qualified](std::span<hotaru::Value> in,
                                              hotaru::Value* out) {
      const own::OwnOperator* op = own::find(qualified);
      TORCH_CHECK(op, "operator ", qualified, " does not exist");
      c10::Stack stack;
      for (hotaru::Value& value : in) stack.emplace_back(std::move(value));
      function(c10::OperatorHandle(op->name(), op->as_operator()), &stack);
      const size_t n = op->schema().results.size();
      TORCH_CHECK(stack.size() == n, "the boxed kernel of ", qualified,
                  " left ", stack.size(), " values, its schema has ", n,
                  " results");
      for (size_t i = 0; i < n; ++i) out[i] = stack[i].hotaru_value();
    };
  state_->undo.push_back(own::implement(qualified, *known, std::move(kernel)));
  return *this;
}

Library& Library::implement_all(CppFunction f) {
  TORCH_CHECK(f.native_.falls_through,
              "fallback(...): hotaru has no kernels that answer all operators ",
              "of a key; one that falls through (CppFunction::makeFallthrough) "
              "is what all keys have already");
  return *this;
}

const std::string& Library::space() const {
  return state_->space;
}

Library& Library::set_python_module(const char*, const char*) {
  return *this;
}

CppFunction CppFunction::makeFallthrough() {
  CppFunction out;
  out.native_.falls_through = true;
  return out;
}

CppFunction CppFunction::boxed(BoxedFunction* function) {
  CppFunction out;
  out.boxed_ = function;
  return out;
}

c10::DispatchKey dispatch_key_of(c10::DeviceType type) {
  return c10::parseDispatchKey(
      own::key_name(own::keys_of(hotaru::DeviceType(type)).kernel));
}

namespace jit {
c10::FunctionSchema parseSchema(const std::string& text) {
  auto schema = hotaru::Schema::parse(text);
  std::string name = schema.name;
  return {std::move(name), std::move(schema)};
}
}  // namespace jit

}  // namespace torch

namespace c10 {

namespace {
constexpr const char* kNames[] = {
#define HOTARU_TORCH_KEY(name) #name,
    HOTARU_TORCH_DISPATCH_KEYS(HOTARU_TORCH_KEY)
#undef HOTARU_TORCH_KEY
};
}  // namespace

const char* toString(DispatchKey key) {
  return kNames[size_t(key)];
}

DispatchKey parseDispatchKey(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return DispatchKey(i);
  TORCH_CHECK(false, "could not parse dispatch key: ", name);
}

bool FunctionSchema::is_mutable() const {
  for (const hotaru::Argument& a : schema_.arguments)
    if (a.type.written) return true;
  return false;
}

std::string toString(const FunctionSchema& schema) {
  const std::string text = schema.hotaru_schema().str();
  return schema.name() + text.substr(schema.hotaru_schema().name.size());
}

namespace impl {

ExcludeDispatchKeyGuard::ExcludeDispatchKeyGuard(const DispatchKeySet& keys) {
  DispatchKeySet left;
  hotaru::own::Skipped skip;
  bool autocast = false;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const auto key = DispatchKey(i);
    if (!keys.has(key)) continue;
    const std::string_view name = toString(key);
    if (name.starts_with("Autograd"))
      skip.autograd = true;
    else if (name.starts_with("Autocast"))
      autocast = true;
    else if (key == DispatchKey::ADInplaceOrView)
      skip.inplace = true;
    else
      TORCH_CHECK_NOT_IMPLEMENTED(
          false,
          "ExcludeDispatchKeyGuard: hotaru has no layer to leave out "
          "for ",
          name, "; Autograd, ADInplaceOrView and Autocast are those there are");
  }
  if (skip.autograd || skip.inplace) skip_.emplace(skip);
  if (autocast) autocast_.emplace();
}

}  // namespace impl

Dispatcher& Dispatcher::singleton() {
  static Dispatcher dispatcher;
  return dispatcher;
}

std::optional<OperatorHandle> Dispatcher::findSchema(
    const OperatorName& name) const {
  const hotaru::Operator* op = hotaru::Registry::instance().find(
      hotaru::own::registered_name(name.name), name.overload_name);
  if (!op) return std::nullopt;
  return OperatorHandle(name.name, *op);
}

OperatorHandle Dispatcher::findSchemaOrThrow(const char* name,
                                             const char* overload) const {
  const OperatorName wanted(name, overload);
  if (const auto found = findSchema(wanted)) return *found;
  const auto& others =
      hotaru::Registry::instance().find(hotaru::own::registered_name(name));
  TORCH_CHECK(others.empty(), "Could not find schema for ", wanted,
              " but we found ", others.size(), " with other overload names");
  TORCH_CHECK(false, "Could not find schema for ", wanted);
}

std::vector<std::string> Dispatcher::getDefinedNames() const {
  std::vector<std::string> out;
  for (const auto* op : hotaru::own::all()) out.push_back(op->qualified_name());
  return out;
}

bool OperatorHandle::hasKernelForDispatchKey(DispatchKey key) const {
  const auto known = hotaru::own::find_key(toString(key));
  const std::string name = toString(operator_name());
  const hotaru::own::OwnOperator* op = hotaru::own::find(name);
  if (!op) return key == DispatchKey::CPU || key == DispatchKey::Meta;
  return known && op->kernel(*known);
}

void OperatorHandle::callBoxed(Stack* stack) const {
  const hotaru::Schema& schema = op_->schema();
  const size_t n = schema.arguments.size();
  TORCH_CHECK(stack->size() >= n, operator_name(), " takes ", n,
              " arguments, there are ", stack->size(), " on the stack");
  std::vector<hotaru::Value> arguments;
  for (size_t i = stack->size() - n; i < stack->size(); ++i)
    arguments.push_back((*stack)[i].hotaru_value());
  stack->erase(stack->end() - int64_t(n), stack->end());
  std::vector<hotaru::Value> results(schema.results.size());
  op_->call(arguments.data(), results.data());
  for (hotaru::Value& value : results) stack->emplace_back(std::move(value));
}

}  // namespace c10
