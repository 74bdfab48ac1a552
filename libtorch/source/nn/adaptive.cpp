#include "torch/nn/modules/adaptive.h"

#include <algorithm>
#include <cmath>

#include "torch/nn/modules/container/sequential.h"

namespace torch::nn {

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(
    AdaptiveLogSoftmaxWithLossOptions given)
    : options(std::move(given)), cutoffs(options.cutoffs()) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  const auto& given = options.cutoffs();
  TORCH_CHECK(
      std::is_sorted(given.begin(), given.end(), std::less_equal<>()) &&
          std::all_of(given.begin(), given.end(),
                      [](int64_t c) { return c > 0; }) &&
          !given.empty() && given.back() <= options.n_classes() - 1,
      "cutoffs should be a sequence of unique, positive integers sorted in an "
      "increasing order, where each value is between 1 and n_classes-1");
  TORCH_CHECK(options.div_value() != 0, "div_value should not be equal to 0");
  cutoffs = given;
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = int64_t(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  head = register_module("head",
                         Linear(LinearOptions(options.in_features(), head_size)
                                    .bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const auto features = int64_t(double(options.in_features()) /
                                  std::pow(options.div_value(), double(i + 1)));
    const int64_t classes = cutoffs[size_t(i) + 1] - cutoffs[size_t(i)];
    tail->push_back(Sequential(
        Linear(LinearOptions(options.in_features(), features).bias(false)),
        Linear(LinearOptions(features, classes).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (size_t i = 0; i < tail->size(); ++i) {
    auto projection = tail->ptr<SequentialImpl>(i);
    projection->at<LinearImpl>(0).reset_parameters();
    projection->at<LinearImpl>(1).reset_parameters();
  }
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& given,
                                                  const Tensor& targets) {
  TORCH_CHECK(targets.dim() == 0 || targets.dim() == 1,
              "0D or 1D target tensor expected, multi-target not supported");
  const bool one = targets.dim() == 0;
  TORCH_CHECK(given.dim() == (one ? 1 : 2), one ? "1D" : "2D",
              " input tensor expected for targets of dimension ", targets.dim(),
              ", got ", given.dim(), "D");
  TORCH_CHECK(one || given.size(0) == targets.size(0),
              "Input and target should have the same size in the batch "
              "dimension.");
  const Tensor input = one ? given.unsqueeze(0) : given;
  const Tensor target = one ? targets.unsqueeze(0) : targets;
  TORCH_CHECK(target.numel() == 0 ||
                  (target.min().item<int64_t>() >= 0 &&
                   target.max().item<int64_t>() < options.n_classes()),
              "Target values should be in [0, n_classes - 1], but values in "
              "range [",
              target.min().item<int64_t>(), ", ", target.max().item<int64_t>(),
              "] were found. ");
  Tensor output = torch::zeros({target.size(0)}, input.options());
  Tensor in_head = target;
  for (int64_t i = 0; i < n_clusters; ++i) {
    const int64_t low = cutoffs[size_t(i)], high = cutoffs[size_t(i) + 1];
    const Tensor rows =
        torch::nonzero((target >= low) * (target < high)).squeeze(1);
    if (rows.numel() == 0) continue;
    const Tensor cluster =
        torch::log_softmax(tail->ptr<SequentialImpl>(size_t(i))->forward(
                               input.index_select(0, rows)),
                           1);
    const Tensor local =
        cluster.gather(1, (target.index_select(0, rows) - low).unsqueeze(1));
    output = output.index_copy(0, rows, local.squeeze(1));
    in_head = in_head.index_fill(0, rows, shortlist_size + i);
  }
  const Tensor first = torch::log_softmax(head(input), 1);
  output = output + first.gather(1, in_head.unsqueeze(1)).squeeze(1);
  const double loss = (-output).mean().item<double>();
  return {one ? output.squeeze(0) : output, loss};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob_of(const Tensor& input,
                                                   const Tensor& head_output) {
  const Tensor first = torch::log_softmax(head_output, 1);
  std::vector<Tensor> parts{first.narrow(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i)
    parts.push_back(
        torch::log_softmax(tail->ptr<SequentialImpl>(size_t(i))->forward(input),
                           1) +
        first.narrow(1, shortlist_size + i, 1));
  return torch::cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  return log_prob_of(input, head(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  return log_prob(input).argmax(1);
}

}  // namespace torch::nn
