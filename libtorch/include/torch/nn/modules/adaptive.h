// Softmax over many classes of unequal frequency (Grave et al. 2017).
#pragma once

#include <string>
#include <vector>

#include "torch/nn/modules/container/modulelist.h"
#include "torch/nn/modules/linear.h"

namespace torch::nn {

/// The log-probability of each target, and the mean loss.
struct ASMoutput {
  ASMoutput(Tensor output, double loss)
      : output(std::move(output)), loss(loss) {}
  Tensor output;
  double loss;
};

struct AdaptiveLogSoftmaxWithLossOptions {
  /// cutoffs: where clusters of less and less frequent classes begin.
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes,
                                    std::vector<int64_t> cutoffs)
      : in_features_(in_features),
        n_classes_(n_classes),
        cutoffs_(std::move(cutoffs)) {}
  TORCH_ARG(int64_t, in_features);
  TORCH_ARG(int64_t, n_classes);
  TORCH_ARG(std::vector<int64_t>, cutoffs);
  /// Each cluster's features are fewer by this factor than the last one's.
  TORCH_ARG(double, div_value) = 4.;
  TORCH_ARG(bool, head_bias) = false;
};

class AdaptiveLogSoftmaxWithLossImpl
    : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes,
                                 std::vector<int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(
            in_features, n_classes, std::move(cutoffs))) {}
  /// Throws PyTorch's text for cutoffs that do not rise within the classes.
  explicit AdaptiveLogSoftmaxWithLossImpl(
      AdaptiveLogSoftmaxWithLossOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;
  /// input (N, in_features), target (N); or (in_features) and a number.
  ASMoutput forward(const Tensor& input, const Tensor& target);
  /// Logarithmic probabilities of all classes: (N, n_classes).
  Tensor log_prob(const Tensor& input);
  /// The most likely class of each: (N).
  Tensor predict(const Tensor& input);

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;  // with n_classes at the end
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head = nullptr;
  ModuleList tail;

 private:
  Tensor log_prob_of(const Tensor& input, const Tensor& head_output);
};
HOTARU_TORCH_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace torch::nn
