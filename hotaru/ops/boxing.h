// From values to C++ arguments and back: how a plain function becomes callable
// by name. Which C++ type stands for which schema type is defined here.
#pragma once

#include <atomic>
#include <optional>
#include <tuple>

#include "hotaru/core/value.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {

class Generator;
struct AutocastRule;

/// An argument that may be None: a dtype, a number, a list.
template <class T>
using Optional = std::optional<T>;
using Tensors = std::vector<Tensor>;

/// Any function pointer, to be cast back by its own Invoke.
using GenericFunction = void (*)();
struct Callee;
using Invoke = void (*)(const Callee&, Value* arguments, Value* results);

/// Function that a call by name runs.
struct Callee {
  GenericFunction function;
  /// Hands the function its arguments.
  Invoke plain;
  /// Function that is called: `plain`, or what autocast has put before it.
  mutable std::atomic<Invoke> invoke;
  /// The latter's, set before it is called.
  mutable const AutocastRule* autocast = nullptr;
};

/// Holds the C++ form of one argument during a call. Specialised by type:
///   const Tensor&  Tensor and Tensor? (None: undefined)   Tensor
///   const Scalar&, int64_t, double, bool, std::string, Device, DType
///   IntSpan        int[]          const Tensors&  Tensor[], Tensor?[]
///   Generator*     Generator?     Optional<T>     T?       Value   anything
template <class T>
struct Unboxed;

template <>
struct Unboxed<Tensor> {
  Tensor value;
  explicit Unboxed(Value& v) : value(v.as_tensor()) {}
  Tensor& get() { return value; }
};
template <>
struct Unboxed<const Tensor&> {
  const Tensor& value;
  explicit Unboxed(Value& v) : value(v.is_none() ? none() : v.tensor_ref()) {}
  const Tensor& get() { return value; }
  static const Tensor& none() {
    static const Tensor undefined;
    return undefined;
  }
};

/// An argument converted to a T that it owns.
template <class T>
struct Converted {
  T value;
  T get() { return value; }
};
template <>
struct Unboxed<int64_t> : Converted<int64_t> {
  explicit Unboxed(Value& v)
      : Converted{v.is_bool() ? int64_t(v.as_bool()) : v.as_int()} {}
};
template <>
struct Unboxed<double> : Converted<double> {
  explicit Unboxed(Value& v) : Converted{v.to_double()} {}
};
template <>
struct Unboxed<bool> : Converted<bool> {
  explicit Unboxed(Value& v) : Converted{v.as_bool()} {}
};
template <>
struct Unboxed<Scalar> : Converted<Scalar> {
  explicit Unboxed(Value& v) : Converted{v.as_scalar()} {}
};
template <>
struct Unboxed<const Scalar&> : Unboxed<Scalar> {
  using Unboxed<Scalar>::Unboxed;
};
template <>
struct Unboxed<Device> : Converted<Device> {
  explicit Unboxed(Value& v)
      : Converted{v.is_string() ? Device::parse(v.as_string())
                                : v.as_device()} {}
};
template <>
struct Unboxed<DType> : Converted<DType> {
  explicit Unboxed(Value& v) : Converted{dtype_from_int(v.as_int())} {}
};
template <>
struct Unboxed<std::string> : Converted<std::string> {
  explicit Unboxed(Value& v) : Converted{v.as_string()} {}
};
template <>
struct Unboxed<const std::string&> {
  const std::string& value;
  explicit Unboxed(Value& v) : value(v.as_string()) {}
  const std::string& get() { return value; }
};
template <>
struct Unboxed<IntSpan> {
  Dims value;
  explicit Unboxed(Value& v) {
    const auto& items = v.is_tuple() ? v.as_tuple().items : v.as_list().items;
    value.resize(items.size());
    for (size_t i = 0; i < items.size(); ++i) value[i] = items[i].as_int();
  }
  IntSpan get() { return value; }
};
template <>
struct Unboxed<const Tensors&> {
  Tensors value;
  explicit Unboxed(Value& v) : value(v.to_tensor_vector()) {}
  const Tensors& get() { return value; }
};
template <>
struct Unboxed<const std::vector<double>&> {
  std::vector<double> value;
  explicit Unboxed(Value& v) {
    for (const Value& item : v.as_list().items)
      value.push_back(item.to_double());
  }
  const std::vector<double>& get() { return value; }
};
template <>
struct Unboxed<Generator*> {
  Generator* value;
  explicit Unboxed(Value& v)
      : value(v.is_none() ? nullptr
                          : reinterpret_cast<Generator*>(v.as_object())) {}
  Generator* get() { return value; }
};
template <>
struct Unboxed<Value> : Converted<Value> {
  explicit Unboxed(Value& v) : Converted{std::move(v)} {}
};
template <>
struct Unboxed<const Value&> {
  const Value& value;
  explicit Unboxed(Value& v) : value(v) {}
  const Value& get() { return value; }
};
template <class T>
struct Unboxed<std::optional<T>> {
  std::optional<Unboxed<T>> value;
  explicit Unboxed(Value& v) {
    if (!v.is_none()) value.emplace(v);
  }
  std::optional<T> get() {
    if (!value) return std::nullopt;
    return value->get();
  }
};
template <class T>
struct Unboxed<const std::optional<T>&> : Unboxed<std::optional<T>> {
  using Unboxed<std::optional<T>>::Unboxed;
};

inline void box(Value* out, Tensors v) {
  *out = Value::tensor_list(v);
}
inline void box(Value* out, const Dims& v) {
  *out = Value::int_list(v);
}
template <class T>
void box(Value* out, T v) {
  *out = Value(std::move(v));
}
/// A tuple becomes as many results.
template <class... Ts>
void box(Value* out, std::tuple<Ts...> v) {
  std::apply([&](auto&... item) { (box(out++, std::move(item)), ...); }, v);
}

template <class R, class... A>
GenericFunction generic(R (*function)(A...)) {
  return reinterpret_cast<GenericFunction>(function);
}

template <class R, class... A>
void invoke(const Callee& callee, Value* arguments, Value* results) {
  const auto f = reinterpret_cast<R (*)(A...)>(callee.function);
  [&]<size_t... I>(std::index_sequence<I...>) {
    std::tuple<Unboxed<A>...> unboxed{Unboxed<A>(arguments[I])...};
    if constexpr (std::is_void_v<R>)
      f(std::get<I>(unboxed).get()...);
    else
      box(results, f(std::get<I>(unboxed).get()...));
  }
  (std::index_sequence_for<A...>{});
}

}  // namespace hotaru
