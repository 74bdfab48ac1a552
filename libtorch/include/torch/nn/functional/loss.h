// Losses as functions.
#pragma once

#include "torch/nn/options/loss.h"

namespace torch::nn::functional {

Tensor l1_loss(const Tensor& input, const Tensor& target,
               const L1LossFuncOptions& options = {});
Tensor kl_div(const Tensor& input, const Tensor& target,
              const KLDivFuncOptions& options = {});
Tensor mse_loss(const Tensor& input, const Tensor& target,
                const MSELossFuncOptions& options = {});
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options = {});
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options = {});
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options = {});
Tensor multilabel_margin_loss(
    const Tensor& input, const Tensor& target,
    const MultilabelMarginLossFuncOptions& options = {});
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options = {});
Tensor multilabel_soft_margin_loss(
    const Tensor& input, const Tensor& target,
    const MultilabelSoftMarginLossFuncOptions& options = {});
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options = {});
Tensor huber_loss(const Tensor& input, const Tensor& target,
                  const HuberLossFuncOptions& options = {});
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossFuncOptions& options = {});
Tensor nll_loss(const Tensor& input, const Tensor& target,
                const NLLLossFuncOptions& options = {});
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options = {});
Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target,
    const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
Tensor cosine_embedding_loss(
    const Tensor& input1, const Tensor& input2, const Tensor& target,
    const CosineEmbeddingLossFuncOptions& options = {});
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                           const Tensor& negative,
                           const TripletMarginLossFuncOptions& options = {});
Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                           const Tensor& target,
                           const MarginRankingLossFuncOptions& options = {});
/// The second form is PyTorch's shorter one.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta);
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                const Tensor& input_lengths, const Tensor& target_lengths,
                const CTCLossFuncOptions& options = {});

}  // namespace torch::nn::functional
