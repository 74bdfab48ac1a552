// From values to the parameters of a program's function and back, and the
// schema that its C++ types say.
#pragma once

#include <memory>
#include <span>

#include "ATen/core/ivalue.h"

namespace hotaru::libtorch {

/// Holds what a parameter of type T refers to while the function runs.
template <class T>
struct Held {
  T value;
  explicit Held(const Value& v) : value(Boxed<T>::from(v)) {
    static_assert(
        !std::is_integral_v<T> || std::is_same_v<T, bool> || sizeof(T) == 8,
        "You tried to register a kernel with an unsupported integral "
        "input type. Please use int64_t instead.");
    static_assert(!std::is_same_v<T, float>,
                  "You tried to register a kernel with an unsupported input "
                  "type: float. Please use double instead.");
  }
  T& get() { return value; }
};
template <class T>
struct Held<at::ArrayRef<T>> {
  std::unique_ptr<T[]> items;
  at::ArrayRef<T> value;
  explicit Held(const Value& v) {
    const auto& from = v.is_tuple() ? v.as_tuple().items : v.as_list().items;
    items = std::make_unique<T[]>(from.size());
    for (size_t i = 0; i < from.size(); ++i) items[i] = Boxed<T>::from(from[i]);
    value = {items.get(), from.size()};
  }
  at::ArrayRef<T>& get() { return value; }
};
template <class T>
struct Held<std::optional<at::ArrayRef<T>>> {
  std::optional<Held<at::ArrayRef<T>>> items;
  std::optional<at::ArrayRef<T>> value;
  explicit Held(const Value& v) {
    if (v.is_none()) return;
    items.emplace(v);
    value = items->value;
  }
  auto& get() { return value; }
};
template <>
struct Held<at::OptionalIntArrayRef> : Held<std::optional<at::IntArrayRef>> {
  at::OptionalIntArrayRef as_given;
  explicit Held(const Value& v) : Held<std::optional<at::IntArrayRef>>(v) {
    if (value) as_given = *value;
  }
  auto& get() { return as_given; }
};

/// Results where a call puts them: a tuple is as many.
template <class R>
void put_results(Value* out, R&& result) {
  *out = Boxed<std::decay_t<R>>::to(result);
}
template <class... T>
void put_results(Value* out, std::tuple<T...>&& results) {
  std::apply(
      [&](auto&... item) {
        ((*out++ = Boxed<std::decay_t<decltype(item)>>::to(item)), ...);
      },
      results);
}

/// Results as a C++ caller has them: several as a tuple.
template <class R>
struct TakenResult {
  static std::decay_t<R> from(const std::vector<Value>& v) {
    return Boxed<std::decay_t<R>>::from(v[0]);
  }
};
template <class... T>
struct TakenResult<std::tuple<T...>> {
  static std::tuple<T...> from(const std::vector<Value>& v) {
    TORCH_CHECK(v.size() == sizeof...(T), "an operator with ", v.size(),
                " results was called for ", sizeof...(T));
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>{Boxed<std::decay_t<T>>::from(v[I])...};
    }
    (std::index_sequence_for<T...>{});
  }
};

/// A C++ type's text in a schema; a class of the program's has its own.
template <class T>
struct SchemaText;
#define HOTARU_TORCH_SCHEMA_TEXT(type, text) \
  template <> \
  struct SchemaText<type> { \
    static std::string get() { return text; } \
  };
HOTARU_TORCH_SCHEMA_TEXT(at::Tensor, "Tensor")
HOTARU_TORCH_SCHEMA_TEXT(int64_t, "int")
HOTARU_TORCH_SCHEMA_TEXT(double, "float")
HOTARU_TORCH_SCHEMA_TEXT(bool, "bool")
HOTARU_TORCH_SCHEMA_TEXT(std::string, "str")
HOTARU_TORCH_SCHEMA_TEXT(std::string_view, "str")
HOTARU_TORCH_SCHEMA_TEXT(at::Scalar, "Scalar")
HOTARU_TORCH_SCHEMA_TEXT(c10::complex<double>, "complex")
HOTARU_TORCH_SCHEMA_TEXT(at::Device, "Device")
HOTARU_TORCH_SCHEMA_TEXT(at::ScalarType, "ScalarType")
HOTARU_TORCH_SCHEMA_TEXT(at::Layout, "Layout")
HOTARU_TORCH_SCHEMA_TEXT(at::MemoryFormat, "MemoryFormat")
HOTARU_TORCH_SCHEMA_TEXT(at::Generator, "Generator")
HOTARU_TORCH_SCHEMA_TEXT(at::OptionalIntArrayRef, "int[]?")
HOTARU_TORCH_SCHEMA_TEXT(c10::IValue, "Any")
#undef HOTARU_TORCH_SCHEMA_TEXT
template <class T>
struct SchemaText<std::optional<T>> {
  static std::string get() { return SchemaText<T>::get() + "?"; }
};
template <class T>
struct SchemaText<at::ArrayRef<T>> {
  static std::string get() { return SchemaText<T>::get() + "[]"; }
};
template <class T>
struct SchemaText<std::vector<T>> : SchemaText<at::ArrayRef<T>> {};
template <class T>
struct SchemaText<c10::List<T>> : SchemaText<at::ArrayRef<T>> {};
template <class T, size_t N>
struct SchemaText<std::array<T, N>> : SchemaText<at::ArrayRef<T>> {};
template <class K, class V>
struct SchemaText<c10::Dict<K, V>> {
  static std::string get() {
    return "Dict(" + SchemaText<K>::get() + ", " + SchemaText<V>::get() + ")";
  }
};
template <class K, class V>
struct SchemaText<std::unordered_map<K, V>> : SchemaText<c10::Dict<K, V>> {};
template <class... T>
struct SchemaText<std::tuple<T...>> {
  static std::string get() {
    std::string out;
    ((out += (out.empty() ? "" : ", ") + SchemaText<T>::get()), ...);
    return "(" + out + ")";
  }
};

template <class R>
struct ResultText {
  static std::string get() { return SchemaText<R>::get(); }
};
template <>
struct ResultText<void> {
  static std::string get() { return "()"; }
};
/// "(Tensor _0, int _1) -> Tensor".
template <class R, class... A>
std::string schema_of() {
  std::string out;
  size_t i = 0;
  ((out += (i ? ", " : "") + SchemaText<std::decay_t<A>>::get() + " _" +
           std::to_string(i),
    ++i),
   ...);
  return "(" + out + ") -> " + ResultText<std::decay_t<R>>::get();
}

}  // namespace hotaru::libtorch
