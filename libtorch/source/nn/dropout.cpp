#include "torch/nn/modules/dropout.h"

#include "source/nn/printed.h"
#include "torch/nn/functional/dropout.h"

namespace torch::nn {

namespace {

void check_probability(double p) {
  TORCH_CHECK(p >= 0 && p <= 1,
              "dropout probability has to be between 0 and 1, but got ", p);
}

}  // namespace

// The function, and the module that calls it while it trains.
#define HOTARU_TORCH_DROPOUT(Name, name, op, Options) \
  Tensor functional::detail::name(Tensor input, double p, bool training, \
                                  bool inplace) { \
    check_probability(p); \
    return inplace ? at::op##_(input, p, training) \
                   : at::op(input, p, training); \
  } \
  Tensor functional::name(Tensor input, const Options& options) { \
    return detail::name(std::move(input), options.p(), options.training(), \
                        options.inplace()); \
  } \
  Name##Impl::Name##Impl(const DropoutOptions& options) \
      : WithOptions(options) { \
    check_probability(options.p()); \
  } \
  Tensor Name##Impl::forward(Tensor input) { \
    return functional::name(std::move(input), \
                            functional::Options() \
                                .p(options.p()) \
                                .training(is_training()) \
                                .inplace(options.inplace())); \
  } \
  void Name##Impl::pretty_print(std::ostream& out) const { \
    Printed(out, #Name) \
        .with("p", options.p()) \
        .with("inplace", options.inplace()); \
  }
using functional::AlphaDropoutFuncOptions;
using functional::DropoutFuncOptions;
HOTARU_TORCH_DROPOUT(Dropout, dropout, dropout, DropoutFuncOptions)
HOTARU_TORCH_DROPOUT(Dropout2d, dropout2d, feature_dropout, DropoutFuncOptions)
HOTARU_TORCH_DROPOUT(Dropout3d, dropout3d, feature_dropout, DropoutFuncOptions)
HOTARU_TORCH_DROPOUT(AlphaDropout, alpha_dropout, alpha_dropout,
                     AlphaDropoutFuncOptions)
HOTARU_TORCH_DROPOUT(FeatureAlphaDropout, feature_alpha_dropout,
                     feature_alpha_dropout, AlphaDropoutFuncOptions)
#undef HOTARU_TORCH_DROPOUT

}  // namespace torch::nn
