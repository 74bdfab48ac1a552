#include "hotaru/ops/own/own_operator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "hotaru/core/checks/check.h"

namespace hotaru::own {

namespace {

/// The registry's entry: its function is the operator.
void invoke(const Callee& callee, Value* arguments, Value* results) {
  call(*reinterpret_cast<const OwnOperator*>(callee.function), arguments,
       results);
}

std::string qualified(const std::string& name, const std::string& overload) {
  return overload.empty() || overload == "default"
             ? name
             : concat(name, ".", overload);
}

}  // namespace

std::string_view registered_name(std::string_view name) {
  if (name.starts_with("aten::")) name.remove_prefix(6);
  return name;
}

OwnOperator::OwnOperator(std::string name, std::string text, std::string source)
    : name_(std::move(name)),
      text_(std::move(text)),
      source_(std::move(source)),
      operator_(std::make_unique<Operator>(
          text_.c_str(), reinterpret_cast<GenericFunction>(this), &invoke)) {
  const Schema& schema = operator_->schema();
  qualified_name_ = qualified(name_, schema.overload);
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const ArgType& type = schema.arguments[i].type;
    if (type.kind == ArgKind::kTensor) tensors_.push_back({i, type.written});
  }
}

void OwnOperator::put(Key key, const BoxedKernel* kernel) {
  registered_[size_t(key)].push_back(kernel);
  current_[size_t(key)].store(kernel, std::memory_order_release);
}

void OwnOperator::take(Key key, const BoxedKernel* kernel) {
  auto& list = registered_[size_t(key)];
  list.erase(std::remove(list.begin(), list.end(), kernel), list.end());
  current_[size_t(key)].store(list.empty() ? nullptr : list.back(),
                              std::memory_order_release);
}

/// Who is defined, and kernels of those that are not yet. Never destroyed:
/// calls come until the last thread has ended.
class Table {
 public:
  static Table& instance() {
    static Table& table = *new Table;
    return table;
  }

  OwnOperator& define(std::string name, std::string text,
                      const std::string& source, bool conservative);
  void undefine(OwnOperator& op);
  const BoxedKernel* implement(const std::string& qualified_name, Key key,
                               BoxedKernel kernel);
  void take_back(const std::string& qualified_name, Key key,
                 const BoxedKernel* kernel);
  OwnOperator* find(std::string_view qualified_name);
  bool is_conservative(const Operator& op);
  std::vector<const OwnOperator*> all();

 private:
  struct Early {
    Key key;
    const BoxedKernel* kernel;
  };

  Mutex mutex_;
  std::map<std::string, OwnOperator*, std::less<>> operators_;
  std::map<std::string, std::vector<Early>, std::less<>> early_;
  // Asked of every call that is compiled, mostly where there are none.
  std::atomic<bool> any_conservative_{false};
  std::set<const Operator*> conservative_;
};

OwnOperator& Table::define(std::string name, std::string text,
                           const std::string& source, bool conservative) {
  std::unique_ptr<OwnOperator> made(
      new OwnOperator(std::move(name), std::move(text), source));
  made->conservative_ = conservative;
  const std::lock_guard lock(mutex_);
  const auto [at, added] =
      operators_.try_emplace(made->qualified_name(), made.get());
  HOTARU_CHECK(
      added, "Tried to register an operator (", made->name(),
      made->schema().str().substr(made->schema().name.size()),
      ") with the same name and overload name multiple times. Each overload's "
      "schema should only be registered with a single call to def(). Duplicate "
      "registration: ",
      source, ". Original registration: ", at->second->source());
  OwnOperator& op = *made.release();
  if (const auto waiting = early_.find(op.qualified_name());
      waiting != early_.end()) {
    for (const auto& [key, kernel] : waiting->second) op.put(key, kernel);
    early_.erase(waiting);
  }
  if (conservative) {
    conservative_.insert(&op.as_operator());
    any_conservative_.store(true, std::memory_order_release);
  }
  Registry::instance().add_late(registered_name(op.name()), op.as_operator());
  return op;
}

void Table::undefine(OwnOperator& op) {
  const std::lock_guard lock(mutex_);
  op.alive_.store(false, std::memory_order_release);
  operators_.erase(op.qualified_name());
  Registry::instance().remove_late(registered_name(op.name()),
                                   op.as_operator());
  auto& waiting = early_[op.qualified_name()];
  for (size_t key = 0; key < kKeys; ++key)
    for (const BoxedKernel* kernel : op.registered_[key])
      waiting.push_back({Key(key), kernel});
}

const BoxedKernel* Table::implement(const std::string& qualified_name, Key key,
                                    BoxedKernel kernel) {
  const BoxedKernel* kept =
      new BoxedKernel(std::move(kernel));  // see OwnOperator
  const std::lock_guard lock(mutex_);
  if (const auto at = operators_.find(qualified_name); at != operators_.end())
    at->second->put(key, kept);
  else
    early_[qualified_name].push_back({key, kept});
  return kept;
}

void Table::take_back(const std::string& qualified_name, Key key,
                      const BoxedKernel* kernel) {
  const std::lock_guard lock(mutex_);
  if (const auto at = operators_.find(qualified_name); at != operators_.end())
    at->second->take(key, kernel);
  if (const auto at = early_.find(qualified_name); at != early_.end())
    std::erase_if(at->second,
                  [&](const Early& e) { return e.kernel == kernel; });
}

OwnOperator* Table::find(std::string_view qualified_name) {
  const std::lock_guard lock(mutex_);
  const auto at = operators_.find(qualified_name);
  return at == operators_.end() ? nullptr : at->second;
}

bool Table::is_conservative(const Operator& op) {
  if (!any_conservative_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  return conservative_.contains(&op);
}

std::vector<const OwnOperator*> Table::all() {
  const std::lock_guard lock(mutex_);
  std::vector<const OwnOperator*> out;
  for (const auto& [name, op] : operators_) out.push_back(op);
  return out;
}

OwnOperator& define(const std::string& space, const std::string& schema,
                    const std::string& source, Undo* undo, bool conservative) {
  const size_t end = schema.find_first_of(".(");
  HOTARU_CHECK(end != std::string::npos, "the schema '", schema,
               "' has no arguments: it is \"name(Tensor x) -> Tensor\"");
  const std::string name = concat(space, "::", schema.substr(0, end));
  const std::string plain(registered_name(name));
  HOTARU_CHECK_AS(NotImplementedError, !Registry::instance().is_native(plain),
                  name,
                  " is one of hotaru's own operators, which get no "
                  "overloads from programs; define one of another name");
  OwnOperator& op = Table::instance().define(name, plain + schema.substr(end),
                                             source, conservative);
  if (undo) *undo = [&op] { Table::instance().undefine(op); };
  return op;
}

Undo implement(const std::string& qualified_name, Key key, BoxedKernel kernel) {
  const std::string name = qualified_name.substr(0, qualified_name.find('.'));
  HOTARU_CHECK_AS(
      NotImplementedError,
      !Registry::instance().is_native(registered_name(name)), qualified_name,
      " is one of hotaru's own operators, whose kernels are fixed: programs "
      "cannot replace them");
  const BoxedKernel* kept =
      Table::instance().implement(qualified_name, key, std::move(kernel));
  return [qualified_name, key, kept] {
    Table::instance().take_back(qualified_name, key, kept);
  };
}

bool is_conservative(const Operator& op) {
  return Table::instance().is_conservative(op);
}

const OwnOperator* find(std::string_view qualified_name) {
  return Table::instance().find(qualified_name);
}

std::vector<const OwnOperator*> all() {
  return Table::instance().all();
}

}  // namespace hotaru::own
