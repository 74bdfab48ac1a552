// C++ values as Values and back, for operators called by name, TorchScript and
// kernels of a program's own. To add a type, specialise Boxed.
#pragma once

#include <array>
#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ATen/core/Dict.h"
#include "ATen/core/Tensor.h"
#include "c10/util/intrusive_ptr.h"

namespace hotaru::libtorch {

template <>
struct Boxed<Value> {
  static Value to(Value v) { return v; }
  static Value from(const Value& v) { return v; }
};
template <>
struct Boxed<at::Tensor> {
  static Value to(const at::Tensor& v) { return Value(v.hotaru_tensor()); }
  static at::Tensor from(const Value& v) { return at::Tensor(v.as_tensor()); }
};
template <>
struct Boxed<bool> {
  static Value to(bool v) { return Value(v); }
  static bool from(const Value& v) { return v.as_bool(); }
};
template <class T>
struct Boxed<T, std::enable_if_t<std::is_integral_v<T>>> {
  static Value to(T v) { return Value(static_cast<int64_t>(v)); }
  static T from(const Value& v) { return static_cast<T>(v.as_int()); }
};
template <class T>
struct Boxed<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static Value to(T v) { return Value(double{v}); }
  static T from(const Value& v) { return static_cast<T>(v.to_double()); }
};
template <class T>
struct Boxed<std::complex<T>> {
  static Value to(std::complex<T> v) { return Value(std::complex<double>(v)); }
  static std::complex<T> from(const Value& v) {
    return std::complex<T>(v.as_complex());
  }
};
template <>
struct Boxed<at::Scalar> {
  static Value to(const at::Scalar& v) { return Value(to_hotaru(v)); }
  static at::Scalar from(const Value& v) { return at::Scalar(v.as_scalar()); }
};
template <>
struct Boxed<std::string> {
  static Value to(std::string v) { return Value(std::move(v)); }
  static std::string from(const Value& v) { return v.as_string(); }
};
template <>
struct Boxed<const char*> {
  static Value to(const char* v) { return Value(v); }
};
template <>
struct Boxed<std::string_view> {
  static Value to(std::string_view v) { return Value(std::string(v)); }
  /// Valid as long as the value.
  static std::string_view from(const Value& v) { return v.as_string(); }
};
template <>
struct Boxed<c10::Device> {
  static Value to(const c10::Device& v) { return Value(to_hotaru(v)); }
  static c10::Device from(const Value& v) {
    return c10::Device(v.is_string() ? Device::parse(v.as_string())
                                     : v.as_device());
  }
};
/// ScalarType, Layout, MemoryFormat: their numbers are TorchScript's.
template <class T>
struct Boxed<T, std::enable_if_t<std::is_enum_v<T>>> {
  static Value to(T v) { return Value(static_cast<int64_t>(v)); }
  static T from(const Value& v) { return static_cast<T>(v.as_int()); }
};
template <>
struct Boxed<at::Generator> {
  static Value to(const at::Generator& v);
  static at::Generator from(const Value& v);
};
template <>
struct Boxed<std::nullopt_t> {
  static Value to(std::nullopt_t) { return {}; }
};

template <class T>
struct Boxed<std::optional<T>> {
  static Value to(const std::optional<T>& v) {
    return v ? Boxed<T>::to(*v) : Value();
  }
  static std::optional<T> from(const Value& v) {
    if (v.is_none()) return std::nullopt;
    return Boxed<T>::from(v);
  }
};
template <class T>
struct Boxed<at::ArrayRef<T>> {
  static Value to(at::ArrayRef<T> v) {
    std::vector<Value> items;
    items.reserve(v.size());
    for (const T& item : v) items.push_back(Boxed<T>::to(item));
    return Value::list(std::move(items));
  }
};
template <>
struct Boxed<at::OptionalIntArrayRef> {
  static Value to(const at::OptionalIntArrayRef& v) {
    return v ? Boxed<at::IntArrayRef>::to(*v) : Value();
  }
};
template <class T, class A>
struct Boxed<std::vector<T, A>> {
  static Value to(const std::vector<T, A>& v) {
    std::vector<Value> items;
    items.reserve(v.size());
    for (const T& item : v) items.push_back(Boxed<T>::to(item));
    return Value::list(std::move(items));
  }
  static std::vector<T, A> from(const Value& v) {
    std::vector<T, A> out;
    const auto& items = v.is_tuple() ? v.as_tuple().items : v.as_list().items;
    out.reserve(items.size());
    for (const Value& item : items) out.push_back(Boxed<T>::from(item));
    return out;
  }
};
template <class T, size_t N>
struct Boxed<std::array<T, N>> {
  static Value to(const std::array<T, N>& v) {
    return Boxed<at::ArrayRef<T>>::to(v);
  }
  static std::array<T, N> from(const Value& v) {
    const auto& items = v.as_list().items;
    TORCH_CHECK(items.size() == N, "a list of ", items.size(),
                " elements is no array of ", N);
    std::array<T, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = Boxed<T>::from(items[i]);
    return out;
  }
};
template <class T>
struct Boxed<c10::List<T>> {
  static Value to(const c10::List<T>& v) { return Value(v.object()); }
  static c10::List<T> from(const Value& v) {
    return c10::List<T>(Ref<ListObject>(&v.as_list()));
  }
};
template <class K, class V>
struct Boxed<c10::Dict<K, V>> {
  static Value to(const c10::Dict<K, V>& v) { return Value(v.object()); }
  static c10::Dict<K, V> from(const Value& v) {
    return c10::Dict<K, V>(Ref<DictObject>(&v.as_dict()));
  }
};
template <class K, class V>
struct Boxed<std::unordered_map<K, V>> {
  static Value to(const std::unordered_map<K, V>& v) {
    const auto dict = make_ref<DictObject>();
    for (const auto& [key, value] : v)
      dict->set(Boxed<K>::to(key), Boxed<V>::to(value));
    return Value(dict);
  }
  static std::unordered_map<K, V> from(const Value& v) {
    std::unordered_map<K, V> out;
    for (const auto& [key, value] : v.as_dict().items)
      out.emplace(Boxed<K>::from(key), Boxed<V>::from(value));
    return out;
  }
};
template <class... T>
struct Boxed<std::tuple<T...>> {
  static Value to(const std::tuple<T...>& v) {
    return std::apply(
        [](const auto&... item) {
          return Value::tuple(
              {Boxed<std::decay_t<decltype(item)>>::to(item)...});
        },
        v);
  }
  static std::tuple<T...> from(const Value& v) {
    const auto& items = v.as_tuple().items;
    TORCH_CHECK(items.size() == sizeof...(T), "a tuple of ", items.size(),
                " elements is none of ", sizeof...(T));
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>{Boxed<T>::from(items[I])...};
    }
    (std::index_sequence_for<T...>{});
  }
};

template <class T>
concept Boxable = requires(const T& v) {
  Boxed<T>::to(v);
};

}  // namespace hotaru::libtorch
