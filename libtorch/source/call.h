// From C++ arguments to a call by name and back: what every generated function
// goes through.
#pragma once

#include <array>
#include <atomic>
#include <initializer_list>

#include "ATen/core/boxed.h"
#include "hotaru/ops/registry.h"

namespace hotaru::libtorch {

template <class T>
Value to_value(const T& v) {
  return Boxed<T>::to(v);
}

/// An int[n] given as one number stands for n equal ones.
template <size_t N>
Value spread(at::IntArrayRef v) {
  return v.size() == 1 ? Value::int_list(Dims(N, v[0])) : to_value(v);
}
template <size_t N>
Value spread(const at::OptionalIntArrayRef& v) {
  return v ? spread<N>(*v) : Value();
}

Value dtype_of(const at::TensorOptions& options);
Value layout_of(const at::TensorOptions& options);
Value device_of(const at::TensorOptions& options);
Value pinned_of(const at::TensorOptions& options);
/// Dtype and device of the tensor that results go to.
inline Value dtype_of(const at::Tensor& out) {
  return to_value(out.scalar_type());
}
inline Value device_of(const at::Tensor& out) {
  return to_value(out.device());
}
/// The new tensor, as a leaf with gradients where the options say so.
at::Tensor with_grad(at::Tensor made, const at::TensorOptions& options);

/// Writes what was made where PyTorch's `out` says, resized to fit.
at::Tensor& give(const at::Tensor& made, at::Tensor& out);
void give(const std::vector<at::Tensor>& made, at::TensorList out);

/// Results as C++ has them: several as a tuple.
template <class T>
struct Result {
  static T from(Value* v) { return Boxed<T>::from(*v); }
};
template <class... T>
struct Result<std::tuple<T...>> {
  static std::tuple<T...> from(Value* v) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>{Boxed<T>::from(v[I])...};
    }
    (std::index_sequence_for<T...>{});
  }
};

/// An operator that is found when it is first called; thread-safe.
class Op {
 public:
  constexpr Op(const char* name, const char* overload)
      : name_(name), overload_(overload) {}

  /// Calls it and gives its result, or nothing.
  template <class R, class... A>
  R call(const A&... arguments) {
    check_defined(arguments...);
    std::array<Value, sizeof...(A)> values{to_value(arguments)...};
    Results results;
    get().call(values.data(), results.data());
    if constexpr (!std::is_void_v<R>) return Result<R>::from(results.data());
  }
  /// The same for PyTorch's `out`: results are written into these tensors,
  /// which are resized to fit.
  template <class... A>
  void write(std::initializer_list<at::Tensor> out, const A&... arguments) {
    check_defined(arguments...);
    std::array<Value, sizeof...(A)> values{to_value(arguments)...};
    write_results(out, values.data());
  }

 private:
  static constexpr size_t kMaxResults = 8;
  using Results = std::array<Value, kMaxResults>;

  const Operator& get() {
    const Operator* op = found_.load(std::memory_order_acquire);
    return op ? *op : find();
  }
  const Operator& find();
  template <class... A>
  void check_defined(const A&... arguments) {
    size_t i = 0;
    ((is_missing(arguments) ? missing(i) : void(), ++i), ...);
  }
  static bool is_missing(const at::Tensor& t) { return !t.defined(); }
  template <class T>
  static bool is_missing(const T&) {
    return false;
  }
  [[noreturn]] void missing(size_t i);
  void write_results(std::initializer_list<at::Tensor> out, Value* arguments);

  const char* name_;
  const char* overload_;
  std::atomic<const Operator*> found_{nullptr};
};

}  // namespace hotaru::libtorch
