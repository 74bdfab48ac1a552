// Classes of a program's own in TorchScript and Python: torch::class_.
#pragma once

#include <typeindex>

#include "ATen/core/boxing/kernel.h"
#include "ATen/core/ivalue.h"
#include "c10/util/Type.h"
#include "hotaru/script/program/own_class.h"
#include "torch/library.h"

namespace torch {

/// Base of such classes.
using CustomClassHolder = c10::intrusive_ptr_target;
namespace jit {
using CustomClassHolder = c10::intrusive_ptr_target;
}

namespace detail {
/// Class that a C++ type was registered as, null before that.
const hotaru::script::OwnClass* own_class(std::type_index type);
void remember_class(std::type_index type, const hotaru::script::OwnClass* cls);
/// The object of an instance. Throws c10::Error for another class's.
hotaru::RefCounted* own_object(const hotaru::Value& value,
                               std::type_index type);
hotaru::Value own_value(hotaru::Ref<hotaru::RefCounted> object,
                        std::type_index type);

template <class... A>
struct types {};

template <class F>
struct Init {
  F make;
};
}  // namespace detail

/// A default value, or none, of a method's argument: torch::arg("n") = 1.
struct arg {
  explicit arg(std::string name) : name(std::move(name)) {}
  static arg none() { return arg(""); }
  template <class T>
  arg& operator=(const T& given) {
    value = c10::IValue(given);
    return *this;
  }
  std::string name;
  std::optional<c10::IValue> value;
};

/// For def(): the constructor that takes these.
template <class... A>
constexpr detail::types<A...> init() {
  return {};
}
/// For def(): a function that makes the object, as an intrusive_ptr.
template <class F>
detail::Init<std::decay_t<F>> init(F&& make) {
  return {std::forward<F>(make)};
}

}  // namespace torch

namespace hotaru::libtorch {

template <class T>
struct Boxed<c10::intrusive_ptr<T>> {
  static Value to(const c10::intrusive_ptr<T>& v) {
    return v ? torch::detail::own_value(Ref<RefCounted>(v.get()), typeid(T))
             : Value();
  }
  static c10::intrusive_ptr<T> from(const Value& v) {
    return c10::intrusive_ptr<T>::reclaim_copy(
        static_cast<T*>(torch::detail::own_object(v, typeid(T))));
  }
};
template <class T>
struct SchemaText<c10::intrusive_ptr<T>> {
  static std::string get() {
    const script::OwnClass* cls = torch::detail::own_class(typeid(T));
    TORCH_CHECK(cls, "the class ", c10::demangle_type<T>(),
                " is used before it is registered with torch::class_");
    return cls->name();
  }
};

}  // namespace hotaru::libtorch

namespace torch {

namespace detail {
class class_base {
 protected:
  class_base(const std::string& space, const std::string& name,
             std::type_index type, const std::string& doc);
  /// Adds a method; the schema is what C++ types say, with names and defaults.
  void add(const std::string& name, hotaru::libtorch::NativeKernel kernel,
           std::initializer_list<arg> arguments, const std::string& doc,
           bool is_static = false, bool is_property = false);

 private:
  hotaru::script::OwnClass& class_;
};
}  // namespace detail

/// Registers a class for as long as the process lives: in Python
/// torch.classes.space.name, and in TorchScript. Errors are c10::Error: a name
/// that is taken, a type that no schema can say.
template <class T>
class class_ : detail::class_base {
  using Self = c10::intrusive_ptr<T>;

 public:
  explicit class_(const std::string& space, const std::string& name,
                  const std::string& doc = "")
      : class_base(space, name, typeid(T), doc) {}

  template <class... A>
  class_& def(detail::types<A...>, const std::string& doc = "",
              std::initializer_list<arg> arguments = {}) {
    return construct([](A... a) { return c10::make_intrusive<T>(a...); }, doc,
                     arguments);
  }
  template <class F>
  class_& def(detail::Init<F> made, const std::string& doc = "",
              std::initializer_list<arg> arguments = {}) {
    return construct(std::move(made.make), doc, arguments);
  }
  /// A function of an object and more, or a method.
  template <class F>
  class_& def(const std::string& name, F f, const std::string& doc = "",
              std::initializer_list<arg> arguments = {}) {
    add(name, method(std::move(f)), arguments, doc);
    return *this;
  }
  template <class F>
  class_& def_static(const std::string& name, F f,
                     const std::string& doc = "") {
    add(name, hotaru::libtorch::native_kernel(std::move(f)), {}, doc, true);
    return *this;
  }
  /// Read without parentheses. A setter is called in Python alone.
  template <class Get>
  class_& def_property(const std::string& name, Get get,
                       const std::string& doc = "") {
    add(name + "_getter", method(std::move(get)), {}, doc, false, true);
    return *this;
  }
  template <class Get, class Set>
  class_& def_property(const std::string& name, Get get, Set set,
                       const std::string& doc = "") {
    def_property(name, std::move(get), doc);
    return def(name + "_setter", std::move(set));
  }
  template <class V>
  class_& def_readonly(const std::string& name, V T::*field) {
    return def_property(name,
                        [field](const Self& self) { return (*self).*field; });
  }
  template <class V>
  class_& def_readwrite(const std::string& name, V T::*field) {
    return def_property(
        name, [field](const Self& self) { return (*self).*field; },
        [field](const Self& self, V value) { (*self).*field = value; });
  }
  /// get(object) gives a state, set(state) a new object.
  template <class Get, class Set>
  class_& def_pickle(Get get, Set set) {
    def("__getstate__", std::move(get));
    return restore(std::move(set));
  }

 private:
  using Value = hotaru::Value;
  using NativeKernel = hotaru::libtorch::NativeKernel;

  template <class F>
  static NativeKernel method(F f) {
    return hotaru::libtorch::native_kernel(std::move(f));
  }
  template <class R, class C, class... A>
  static NativeKernel method(R (C::*f)(A...)) {
    return method([f](const Self& self, A... a) -> R {
      return ((*self).*f)(std::forward<A>(a)...);
    });
  }
  template <class R, class C, class... A>
  static NativeKernel method(R (C::*f)(A...) const) {
    return method([f](const Self& self, A... a) -> R {
      return ((*self).*f)(std::forward<A>(a)...);
    });
  }
  /// As a method that puts what f makes into the instance.
  template <class F>
  static NativeKernel placing(F f) {
    NativeKernel made = hotaru::libtorch::native_kernel(std::move(f));
    // "(int _0) -> C" becomes "(C self, int _0) -> ()".
    const std::string& text = *made.schema;
    const size_t end = text.rfind(" -> ");
    const std::string rest = text.substr(1, end - 1);
    made.schema = "(" + hotaru::libtorch::SchemaText<Self>::get() + " self" +
                  (rest == ")" ? "" : ", ") + rest + " -> ()";
    made.kernel = [make = std::move(made.kernel)](std::span<Value> in,
                                                  Value* out) {
      Value object;
      make(in.subspan(1), &object);
      in[0].as_instance().slots.at(0) = object.as_instance().slots.at(0);
    };
    return made;
  }
  template <class F>
  class_& construct(F f, const std::string& doc,
                    std::initializer_list<arg> arguments) {
    add("__init__", placing(std::move(f)), arguments, doc);
    return *this;
  }
  template <class F>
  class_& restore(F f) {
    add("__setstate__", placing(std::move(f)), {}, "");
    return *this;
  }
};

template <class T>
class_<T> Library::class_(const std::string& name) {
  return torch::class_<T>(space(), name);
}

/// An object of a registered class as a value.
template <class T, class... A>
c10::IValue make_custom_class(A&&... arguments) {
  return c10::IValue(c10::make_intrusive<T>(std::forward<A>(arguments)...));
}

}  // namespace torch
