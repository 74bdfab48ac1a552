// A function of a program's as a kernel of an operator.
#pragma once

#include "ATen/core/boxing/arguments.h"
#include "hotaru/ops/own/own_operator.h"

namespace hotaru::libtorch {

/// A kernel that calls f with the values as parameters of types A.
template <class R, class... A, class F>
own::BoxedKernel boxed_kernel(F f) {
  return [f = std::move(f)](std::span<Value> in, Value* out) mutable {
    HOTARU_CHECK(in.size() == sizeof...(A), "a kernel of ", sizeof...(A),
                 " parameters was called with ", in.size(), " arguments");
    [&]<size_t... I>(std::index_sequence<I...>) {
      std::tuple<Held<std::decay_t<A>>...> held{
          Held<std::decay_t<A>>(in[I])...};
      if constexpr (std::is_void_v<R>)
        f(static_cast<A>(std::get<I>(held).get())...);
      else
        put_results(out, std::decay_t<R>(
                             f(static_cast<A>(std::get<I>(held).get())...)));
    }
    (std::index_sequence_for<A...>{});
  };
}

/// A kernel and what its C++ types say; of a boxed one, or one that falls
/// through, nothing.
struct NativeKernel {
  own::BoxedKernel kernel;
  std::optional<std::string> schema;
  bool falls_through = false;
  std::string debug;
};

template <class F, class Call = decltype(&F::operator())>
struct CallOf;
template <class F, class C, class R, class... A>
struct CallOf<F, R (C::*)(A...) const> {
  static NativeKernel kernel(F f) {
    return {boxed_kernel<R, A...>(std::move(f)), schema_of<R, A...>()};
  }
};
template <class F, class C, class R, class... A>
struct CallOf<F, R (C::*)(A...)> : CallOf<F, R (C::*)(A...) const> {};

template <class R, class... A>
NativeKernel native_kernel(R (*f)(A...)) {
  return {boxed_kernel<R, A...>(f), schema_of<R, A...>()};
}
template <class F>
requires std::is_class_v<F> NativeKernel native_kernel(F f) {
  return CallOf<F>::kernel(std::move(f));
}

}  // namespace hotaru::libtorch
