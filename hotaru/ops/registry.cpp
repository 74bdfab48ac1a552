#include "hotaru/ops/registry.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace hotaru {

struct Registry::Table {
  std::vector<std::unique_ptr<Operator>> operators;
  std::unordered_map<std::string_view, std::vector<const Operator*>> by_name;
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
  const std::string_view text = text_;
  return text.substr(0, text.find_first_of(".("));
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
  return it == table_->by_name.end() ? none : it->second;
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
