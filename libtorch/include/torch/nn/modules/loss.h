// Losses as modules.
#pragma once

#include "torch/nn/modules/with_options.h"
#include "torch/nn/options/loss.h"

namespace torch::nn {

#define HOTARU_TORCH_LOSS(Name) \
  class Name##Impl : public WithOptions<Name##Impl, Name##Options> { \
   public: \
    explicit Name##Impl(Name##Options options = {}) \
        : WithOptions(std::move(options)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& input, const Tensor& target); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_LOSS(L1Loss);
HOTARU_TORCH_LOSS(KLDivLoss);
HOTARU_TORCH_LOSS(MSELoss);
HOTARU_TORCH_LOSS(BCELoss);
HOTARU_TORCH_LOSS(HingeEmbeddingLoss);
HOTARU_TORCH_LOSS(MultiMarginLoss);
HOTARU_TORCH_LOSS(MultiLabelMarginLoss);
HOTARU_TORCH_LOSS(SoftMarginLoss);
HOTARU_TORCH_LOSS(MultiLabelSoftMarginLoss);
HOTARU_TORCH_LOSS(SmoothL1Loss);
HOTARU_TORCH_LOSS(HuberLoss);
HOTARU_TORCH_LOSS(PoissonNLLLoss);
HOTARU_TORCH_LOSS(NLLLoss);
HOTARU_TORCH_LOSS(CrossEntropyLoss);
HOTARU_TORCH_LOSS(BCEWithLogitsLoss);
#undef HOTARU_TORCH_LOSS

#define HOTARU_TORCH_LOSS(Name, a, b, c) \
  class Name##Impl : public WithOptions<Name##Impl, Name##Options> { \
   public: \
    explicit Name##Impl(Name##Options options = {}) \
        : WithOptions(std::move(options)) {} \
    void pretty_print(std::ostream& out) const override; \
    Tensor forward(const Tensor& a, const Tensor& b, const Tensor& c); \
  }; \
  HOTARU_TORCH_MODULE(Name)
HOTARU_TORCH_LOSS(CosineEmbeddingLoss, input1, input2, target);
HOTARU_TORCH_LOSS(TripletMarginLoss, anchor, positive, negative);
HOTARU_TORCH_LOSS(TripletMarginWithDistanceLoss, anchor, positive, negative);
HOTARU_TORCH_LOSS(MarginRankingLoss, input1, input2, target);
#undef HOTARU_TORCH_LOSS

/// Loss of sequences that are not aligned with their labels.
class CTCLossImpl : public WithOptions<CTCLossImpl, CTCLossOptions> {
 public:
  explicit CTCLossImpl(CTCLossOptions options = {})
      : WithOptions(std::move(options)) {}
  void pretty_print(std::ostream& out) const override;
  Tensor forward(const Tensor& log_probs, const Tensor& targets,
                 const Tensor& input_lengths, const Tensor& target_lengths);
};
HOTARU_TORCH_MODULE(CTCLoss);

}  // namespace torch::nn
