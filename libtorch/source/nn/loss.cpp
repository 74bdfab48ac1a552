#include "torch/nn/modules/loss.h"

#include "source/nn/printed.h"
#include "torch/nn/functional/loss.h"

namespace torch::nn {

namespace functional {

namespace {

template <class Options>
int64_t reduced(const Options& options) {
  return enumtype::reduction_get_enum(options.reduction());
}
/// An undefined weight is none.
std::optional<Tensor> given(const Tensor& weight) {
  if (!weight.defined()) return std::nullopt;
  return weight;
}
template <class Options>
Tensor reduce(const Tensor& loss, const Options& options) {
  if (is_chosen<enumtype::kMean>(options.reduction())) return loss.mean();
  if (is_chosen<enumtype::kSum>(options.reduction())) return loss.sum();
  return loss;
}

/// PyTorch broadcasts, and says that it was probably not meant.
std::vector<Tensor> broadcast(const Tensor& input, const Tensor& target) {
  if (!input.sizes().equals(target.sizes()))
    TORCH_WARN("Using a target size (", target.sizes(),
               ") that is different to the input size (", input.sizes(),
               "). This will likely lead to incorrect results due to "
               "broadcasting. Please ensure they have the same size.");
  return torch::broadcast_tensors({input, target});
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target,
               const L1LossFuncOptions& options) {
  const auto both = broadcast(input, target);
  return torch::l1_loss(both[0], both[1], reduced(options));
}
Tensor kl_div(const Tensor& input, const Tensor& target,
              const KLDivFuncOptions& options) {
  if (!is_chosen<enumtype::kBatchMean>(options.reduction()))
    return torch::kl_div(input, target, reduced(options), options.log_target());
  const Tensor sum =
      torch::kl_div(input, target, at::Reduction::Sum, options.log_target());
  return input.dim() ? sum / input.size(0) : sum;
}
Tensor mse_loss(const Tensor& input, const Tensor& target,
                const MSELossFuncOptions& options) {
  const auto both = broadcast(input, target);
  return torch::mse_loss(both[0], both[1], reduced(options));
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options) {
  TORCH_CHECK(input.sizes().equals(target.sizes()), "Using a target size (",
              target.sizes(), ") that is different to the input size (",
              input.sizes(),
              ") is deprecated. Please ensure they have the same size.");
  return torch::binary_cross_entropy(input, target, given(options.weight()),
                                     reduced(options));
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options) {
  return torch::hinge_embedding_loss(input, target, options.margin(),
                                     reduced(options));
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options) {
  TORCH_CHECK(options.p() == 1 || options.p() == 2,
              "only p == 1 and p == 2 supported");
  return torch::multi_margin_loss(input, target, options.p(), options.margin(),
                                  given(options.weight()), reduced(options));
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options) {
  return torch::multilabel_margin_loss(input, target, reduced(options));
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options) {
  return torch::soft_margin_loss(input, target, reduced(options));
}
Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target,
    const MultilabelSoftMarginLossFuncOptions& options) {
  Tensor loss = -(target * torch::log_sigmoid(input) +
                  (1 - target) * torch::log_sigmoid(-input));
  if (options.weight().defined()) loss = loss * options.weight();
  return reduce(loss.sum(-1) / input.size(-1), options);
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta) {
  TORCH_CHECK(!options.beta(),
              "expected beta not to be provided in 'options', but got ",
              *options.beta());
  const auto both = broadcast(input, target);
  return torch::smooth_l1_loss(both[0], both[1], reduced(options), beta);
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options) {
  const auto both = broadcast(input, target);
  return torch::smooth_l1_loss(both[0], both[1], reduced(options),
                               options.beta().value_or(1.0));
}
Tensor huber_loss(const Tensor& input, const Tensor& target,
                  const HuberLossFuncOptions& options) {
  const auto both = broadcast(input, target);
  return torch::huber_loss(both[0], both[1], reduced(options), options.delta());
}
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossFuncOptions& options) {
  return torch::poisson_nll_loss(input, target, options.log_input(),
                                 options.full(), options.eps(),
                                 reduced(options));
}
Tensor nll_loss(const Tensor& input, const Tensor& target,
                const NLLLossFuncOptions& options) {
  return torch::nll_loss_nd(input, target, given(options.weight()),
                            reduced(options), options.ignore_index());
}
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options) {
  return torch::cross_entropy_loss(input, target, given(options.weight()),
                                   reduced(options), options.ignore_index(),
                                   options.label_smoothing());
}
Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target,
    const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  TORCH_CHECK(input.sizes().equals(target.sizes()), "Target size (",
              target.sizes(), ") must be the same as input size (",
              input.sizes(), ")");
  return torch::binary_cross_entropy_with_logits(
      input, target, given(options.weight()), given(options.pos_weight()),
      reduced(options));
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                             const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options) {
  return torch::cosine_embedding_loss(input1, input2, target, options.margin(),
                                      reduced(options));
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                           const Tensor& negative,
                           const TripletMarginLossFuncOptions& options) {
  return torch::triplet_margin_loss(
      anchor, positive, negative, options.margin(), options.p(), options.eps(),
      options.swap(), reduced(options));
}
Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function() ? (*options.distance_function())(a, b)
                                       : torch::pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) far = torch::min(far, distance(positive, negative));
  return reduce(torch::clamp_min(near - far + options.margin(), 0), options);
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                           const Tensor& target,
                           const MarginRankingLossFuncOptions& options) {
  return torch::margin_ranking_loss(input1, input2, target, options.margin(),
                                    reduced(options));
}
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                const Tensor& input_lengths, const Tensor& target_lengths,
                const CTCLossFuncOptions& options) {
  return torch::ctc_loss(log_probs, targets, input_lengths, target_lengths,
                         options.blank(), reduced(options),
                         options.zero_infinity());
}

}  // namespace functional

#define HOTARU_TORCH_LOSS(Name, function) \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) { \
    return functional::function(input, target, options); \
  }
HOTARU_TORCH_LOSS(L1Loss, l1_loss)
HOTARU_TORCH_LOSS(KLDivLoss, kl_div)
HOTARU_TORCH_LOSS(MSELoss, mse_loss)
HOTARU_TORCH_LOSS(BCELoss, binary_cross_entropy)
HOTARU_TORCH_LOSS(HingeEmbeddingLoss, hinge_embedding_loss)
HOTARU_TORCH_LOSS(MultiMarginLoss, multi_margin_loss)
HOTARU_TORCH_LOSS(MultiLabelMarginLoss, multilabel_margin_loss)
HOTARU_TORCH_LOSS(SoftMarginLoss, soft_margin_loss)
HOTARU_TORCH_LOSS(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss)
HOTARU_TORCH_LOSS(SmoothL1Loss, smooth_l1_loss)
HOTARU_TORCH_LOSS(HuberLoss, huber_loss)
HOTARU_TORCH_LOSS(PoissonNLLLoss, poisson_nll_loss)
HOTARU_TORCH_LOSS(NLLLoss, nll_loss)
HOTARU_TORCH_LOSS(CrossEntropyLoss, cross_entropy)
HOTARU_TORCH_LOSS(BCEWithLogitsLoss, binary_cross_entropy_with_logits)
#undef HOTARU_TORCH_LOSS
#define HOTARU_TORCH_LOSS(Name, function) \
  Tensor Name##Impl::forward(const Tensor& a, const Tensor& b, \
                             const Tensor& c) { \
    return functional::function(a, b, c, options); \
  }
HOTARU_TORCH_LOSS(CosineEmbeddingLoss, cosine_embedding_loss)
HOTARU_TORCH_LOSS(TripletMarginLoss, triplet_margin_loss)
HOTARU_TORCH_LOSS(TripletMarginWithDistanceLoss,
                  triplet_margin_with_distance_loss)
HOTARU_TORCH_LOSS(MarginRankingLoss, margin_ranking_loss)
#undef HOTARU_TORCH_LOSS
Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets,
                            const Tensor& input_lengths,
                            const Tensor& target_lengths) {
  return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths,
                              options);
}

// How each prints itself: only some of the options are shown.
#define HOTARU_TORCH_LOSS(Name, shown) \
  void Name##Impl::pretty_print(std::ostream& out) const { \
    Printed(out, #Name) shown; \
  }
HOTARU_TORCH_LOSS(L1Loss, )
HOTARU_TORCH_LOSS(KLDivLoss, )
HOTARU_TORCH_LOSS(MSELoss, )
HOTARU_TORCH_LOSS(BCELoss, )
HOTARU_TORCH_LOSS(HingeEmbeddingLoss, .with("margin", options.margin()))
HOTARU_TORCH_LOSS(MultiMarginLoss,
                  .with("p", options.p()).with("margin", options.margin()))
HOTARU_TORCH_LOSS(MultiLabelMarginLoss, )
HOTARU_TORCH_LOSS(SoftMarginLoss, )
HOTARU_TORCH_LOSS(MultiLabelSoftMarginLoss, )
HOTARU_TORCH_LOSS(SmoothL1Loss, )
HOTARU_TORCH_LOSS(HuberLoss, )
HOTARU_TORCH_LOSS(PoissonNLLLoss, )
HOTARU_TORCH_LOSS(NLLLoss, )
HOTARU_TORCH_LOSS(CrossEntropyLoss, )
HOTARU_TORCH_LOSS(BCEWithLogitsLoss, )
HOTARU_TORCH_LOSS(CosineEmbeddingLoss, .with("margin", options.margin()))
HOTARU_TORCH_LOSS(TripletMarginLoss, .with("margin", options.margin())
                                         .with("p", options.p())
                                         .with("eps", options.eps())
                                         .with("swap", options.swap()))
HOTARU_TORCH_LOSS(
    TripletMarginWithDistanceLoss,
    .with("margin", options.margin()).with("swap", options.swap()))
HOTARU_TORCH_LOSS(MarginRankingLoss, )
HOTARU_TORCH_LOSS(CTCLoss, )
#undef HOTARU_TORCH_LOSS

}  // namespace torch::nn
