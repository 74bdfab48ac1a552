// The kernels of reductions in the list of formulas: HOTARU_REGISTER_REDUCTION
// registers a row of it. For the sources that each take a part of the list.
#pragma once

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/reduce/reduce_loop.h"

namespace hotaru::cpu {

/// A name as a template argument.
template <size_t n>
struct Name {
  constexpr Name(const char (&name)[n]) { std::copy_n(name, n, text); }
  char text[n];
};

template <class A>
A attributes_of(const KernelCall& call) {
  if constexpr (std::is_same_v<A, formulas::NoAttributes>)
    return {};
  else
    return call.attributes<A>();
}

/// Target: the shape to run over, or the RowReduction to make.
template <class R, class T, class Target>
void reduce_by(const KernelCall& call, Target& target,
               const typename R::Attributes& a) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const auto n = double(in.numel()) / double(std::max<int64_t>(1, out.numel()));
  using Acc = typename R::Acc;
  using Out = typename R::Out;
  reduce_into<R, T, Out>(target, out, in, [a, n](Acc acc) {
    return static_cast<Out>(R::finish(acc, n, a));
  });
}

template <Name name, class Types, template <class> class... R>
struct Reduction {
  static constexpr KernelTypes<Types> kTypes{1, name.text};

  template <class Target>
  static void run(const KernelCall& call, Target& target) {
    kTypes.visit(call, [&]<class T>() {
      using First = std::tuple_element_t<0, std::tuple<R<T>...>>;
      const auto a = attributes_of<typename First::Attributes>(call);
      // One piece of code for all that only asks which bytes are zero.
      constexpr bool kByte = sizeof(T) == 1 && requires {
        First::kZeroOrNot;
      };
      using U = std::conditional_t<kByte, uint8_t, T>;
      // The first formula that serves.
      (void)((R<U>::serves(a) && (reduce_by<R<U>, U>(call, target, a), true)) ||
             ...);
    });
  }

  /// Rows are for results of the input's type.
  static constexpr RowReductionFunction row() {
    using First = std::tuple_element_t<0, std::tuple<R<float>...>>;
    if constexpr (std::is_same_v<typename First::Out, float>)
      return &run<RowReduction>;
    else
      return nullptr;
  }
};

template <class K>
using Registration =
    ReduceRegistration<K::template run<const ReduceShape>, K::row()>;

}  // namespace hotaru::cpu

#define HOTARU_REGISTER_REDUCTION(kernel, name, ...) \
  const Registration<Reduction<name, __VA_ARGS__>> HOTARU_CONCAT(registered_, \
                                                                 __COUNTER__)( \
      kernel, check_types<Reduction<name, __VA_ARGS__>::kTypes>);
