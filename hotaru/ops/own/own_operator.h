// Operators that programs define in C++ (TORCH_LIBRARY) and stand in the
// registry like the library's own: a schema, and a kernel for each key.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hotaru/core/mutex.h"
#include "hotaru/ops/own/keys.h"
#include "hotaru/ops/registry.h"

namespace hotaru::own {

/// Takes the arguments in the schema's order, all present, and writes results.
/// Called from any thread.
using BoxedKernel =
    std::function<void(std::span<Value> arguments, Value* results)>;
/// Takes a registration back: calls from then on do not see it. May be called
/// once, at any time.
using Undo = std::function<void()>;

/// Where in the arguments tensors are.
struct TensorPlace {
  size_t argument;
  bool written;
};

/// One overload. Lives as long as the process, as do kernels that were ever
/// registered, since calls may be running. Thread-safe.
class OwnOperator {
 public:
  /// "ns::name"; the overload is the schema's.
  const std::string& name() const { return name_; }
  /// "ns::name.overload".
  const std::string& qualified_name() const { return qualified_name_; }
  const Schema& schema() const { return operator_->schema(); }
  /// Operator that the registry holds.
  const Operator& as_operator() const { return *operator_; }
  /// The file and line that defined it, or what else says where.
  const std::string& source() const { return source_; }
  const std::vector<TensorPlace>& tensors() const { return tensors_; }

  /// Kernel that was registered last for that very key, or null.
  const BoxedKernel* kernel(Key key) const {
    return current_[size_t(key)].load(std::memory_order_acquire);
  }
  /// The same, null for one that falls through.
  const BoxedKernel* runnable(Key key) const {
    const BoxedKernel* found = kernel(key);
    return found && *found ? found : nullptr;
  }
  bool falls_through(Key key) const {
    const BoxedKernel* found = kernel(key);
    return found && !*found;
  }
  bool alive() const { return alive_.load(std::memory_order_acquire); }
  /// True if its schema is what C++ types say, which tells nothing of writes
  /// and views: it may write to any argument, and return parts of them.
  bool conservative() const { return conservative_; }

 private:
  friend class Table;
  OwnOperator(std::string name, std::string text, std::string source);
  void put(Key key, const BoxedKernel* kernel);
  void take(Key key, const BoxedKernel* kernel);

  const std::string name_, text_;
  std::string qualified_name_, source_;
  std::unique_ptr<Operator> operator_;
  std::vector<TensorPlace> tensors_;
  std::array<std::vector<const BoxedKernel*>, kKeys>
      registered_;  // table's lock
  std::array<std::atomic<const BoxedKernel*>, kKeys> current_{};
  std::atomic<bool> alive_{true};
  bool conservative_ = false;
};

/// f(value, written) for each tensor among the arguments, those in lists too,
/// in the schema's order. Values is Value or const Value.
template <class Values, class F>
void each_tensor(const OwnOperator& op, std::span<Values> arguments, F f) {
  for (const TensorPlace& place : op.tensors()) {
    Values& value = arguments[place.argument];
    if (value.is_tensor()) {
      f(value, place.written);
    } else if (value.is_list()) {
      for (auto& item : value.as_list().items)
        if (item.is_tensor()) f(item, place.written);
    }
  }
}

/// As the registry has names: hotaru's own are without "aten::".
std::string_view registered_name(std::string_view name);

/// Adds the operator of a schema, "name.overload(Tensor x) -> Tensor", to a
/// namespace. Throws Error with PyTorch's text where there is one already, and
/// NotImplementedError for an overload of one of hotaru's own.
OwnOperator& define(const std::string& space, const std::string& schema,
                    const std::string& source, Undo* undo = nullptr,
                    bool conservative = false);
/// Registers a kernel for "ns::name.overload", which may be defined later; an
/// empty one falls through. The last one of a key is called.
Undo implement(const std::string& qualified_name, Key key, BoxedKernel kernel);

/// Tells so of an operator of the registry; false for the library's own.
bool is_conservative(const Operator& op);
/// Null where no program's C++ defined it.
const OwnOperator* find(std::string_view qualified_name);
/// All of them, in the order of their names.
std::vector<const OwnOperator*> all();

/// Calls it, layer by layer: see dispatch.cpp.
void call(const OwnOperator& op, Value* arguments, Value* results);

/// Tells whether calls that nobody said a derivative for warn where a backward
/// pass comes by (PyTorch's default), or do nothing. Of the process.
bool warns_without_derivative();
void set_warns_without_derivative(bool warns);

}  // namespace hotaru::own
