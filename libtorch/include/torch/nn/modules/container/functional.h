// A function as a module.
#pragma once

#include <functional>
#include <utility>

#include "torch/nn/cloneable.h"

namespace torch::nn {

/// Functional(torch::relu), or with further arguments bound behind the input:
/// Functional(torch::elu, 1, 0, 1).
class FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function) : function_(std::move(function)) {}
  template <class F, class... Args,
            class = std::enable_if_t<(sizeof...(Args) > 0)>>
  explicit FunctionalImpl(F function, Args&&... args)
      : function_(std::bind(function, std::placeholders::_1,
                            std::forward<Args>(args)...)) {
    static_assert(std::is_convertible_v<decltype(function_), Function>);
  }

  void reset() override {}
  void pretty_print(std::ostream& out) const override {
    out << "torch::nn::Functional()";
  }
  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return function_(std::move(input)); }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
HOTARU_TORCH_MODULE(Functional);

}  // namespace torch::nn
