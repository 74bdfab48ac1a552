#include "hotaru/ops/registry.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "hotaru/core/mutex.h"

namespace hotaru {

struct Registry::Table {
  using Overloads = std::vector<const Operator*>;

  /// Room for those of the library, so that start-up sorts none of them again.
  Table() {
    operators.reserve(2048);
    by_name.reserve(2048);
  }

  /// Complete before anybody looks: found without a lock.
  std::vector<std::unique_ptr<Operator>> operators;
  std::unordered_map<std::string_view, Overloads> by_name;

  /// Operators of programs. A changed list is a new one; who found the former
  /// goes on reading it.
  Mutex late_mutex;
  std::atomic<bool> any_late{false};
  std::unordered_map<std::string_view, const Overloads*> late;

  void set_late(std::string_view name, Overloads overloads) {
    late[name] = new const Overloads(std::move(overloads));
    any_late.store(true, std::memory_order_release);
  }
  const Overloads* find_late(std::string_view name) {
    if (!any_late.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard lock(late_mutex);
    const auto it = late.find(name);
    return it == late.end() ? nullptr : it->second;
  }
};

const Schema& Operator::schema() const {
  // Without a lock, which a fork could leave locked: the first to finish wins.
  const Schema* known = schema_.load(std::memory_order_acquire);
  if (known) [[likely]]
    return *known;
  auto made = std::make_unique<const Schema>(Schema::parse(text_));
  if (schema_.compare_exchange_strong(known, made.get(),
                                      std::memory_order_acq_rel))
    return *made.release();
  return *known;
}

std::string_view Operator::name() const {
  // By hand: start-up asks every operator, and find_first_of() is slow.
  const char* end = text_;
  while (*end && *end != '.' && *end != '(') ++end;
  return {text_, size_t(end - text_)};
}

void Operator::set_autocast(const AutocastRule* rule, Invoke wrapper) const {
  callee_.autocast = rule;
  callee_.invoke.store(wrapper, std::memory_order_release);
}

// Never destroyed: operators are looked up until the last thread has ended.
Registry::Registry() : table_(new Table) {}

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

void Registry::add(const char* text, GenericFunction function, Invoke invoke) {
  auto& op = table_->operators.emplace_back(
      std::make_unique<Operator>(text, function, invoke));
  table_->by_name[op->name()].push_back(op.get());
}

const std::vector<const Operator*>& Registry::find(
    std::string_view name) const {
  static const std::vector<const Operator*> none;
  const auto it = table_->by_name.find(name);
  if (it != table_->by_name.end()) return it->second;
  const Table::Overloads* late = table_->find_late(name);
  return late ? *late : none;
}

bool Registry::is_native(std::string_view name) const {
  return table_->by_name.contains(name);
}

void Registry::add_late(std::string_view name, const Operator& op) {
  const std::lock_guard lock(table_->late_mutex);
  const auto it = table_->late.find(name);
  Table::Overloads overloads;
  if (it != table_->late.end()) overloads = *it->second;
  overloads.push_back(&op);
  table_->set_late(name, std::move(overloads));
}

void Registry::remove_late(std::string_view name, const Operator& op) {
  const std::lock_guard lock(table_->late_mutex);
  const auto it = table_->late.find(name);
  if (it == table_->late.end()) return;
  Table::Overloads overloads = *it->second;
  std::erase(overloads, &op);
  table_->set_late(name, std::move(overloads));
}

const Operator* Registry::find(std::string_view name,
                               std::string_view overload) const {
  for (const Operator* op : find(name))
    if (op->schema().overload == overload) return op;
  return nullptr;
}

std::vector<std::string_view> Registry::names() const {
  std::vector<std::string_view> out;
  for (const auto& [name, overloads] : table_->by_name) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hotaru
