// Options of losses: how the elements are reduced, and what each has besides.
#pragma once

#include <functional>
#include <optional>
#include <variant>

#include "torch/arg.h"
#include "torch/enum.h"
#include "torch/types.h"

namespace torch::nn {

/// kNone: element by element.
using reduction_t =
    std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

struct L1LossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(L1LossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MSELossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MSELossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct BCELossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(BCELossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct HingeEmbeddingLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(HingeEmbeddingLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MultiMarginLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MultiMarginLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(int64_t, p) = 1;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CosineEmbeddingLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(CosineEmbeddingLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(double, margin) = 0.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MultiLabelMarginLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MultiLabelMarginLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct SoftMarginLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SoftMarginLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MultiLabelSoftMarginLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MultiLabelSoftMarginLossOptions, reduction,
                                  kNone, kMean, kSum)
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TripletMarginLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(TripletMarginLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TripletMarginWithDistanceLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(TripletMarginWithDistanceLossOptions,
                                  reduction, kNone, kMean, kSum)

 public:
  using distance_function_t =
      std::function<Tensor(const Tensor&, const Tensor&)>;
  TORCH_ARG(std::optional<distance_function_t>,
            distance_function) = std::nullopt;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CTCLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(CTCLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(int64_t, blank) = 0;
  TORCH_ARG(bool, zero_infinity) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct SmoothL1LossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SmoothL1LossOptions, reduction, kNone, kMean,
                                  kSum)
  TORCH_ARG(std::optional<double>, beta) = std::nullopt;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct HuberLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(HuberLossOptions, reduction, kNone, kMean,
                                  kSum)
  TORCH_ARG(double, delta) = 1.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct PoissonNLLLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(PoissonNLLLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(bool, log_input) = true;
  TORCH_ARG(bool, full) = false;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MarginRankingLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MarginRankingLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(double, margin) = 0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct NLLLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(NLLLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CrossEntropyLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(CrossEntropyLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(double, label_smoothing) = 0.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct BCEWithLogitsLossOptions {
  using reduction_t = nn::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(BCEWithLogitsLossOptions, reduction, kNone,
                                  kMean, kSum)
  TORCH_ARG(Tensor, weight);
  TORCH_ARG(Tensor, pos_weight);
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct KLDivLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kBatchMean,
                                   enumtype::kSum, enumtype::kMean>;
  TORCH_OPTIONS_CTOR_VARIANT_ARG4(KLDivLossOptions, reduction, kNone, kMean,
                                  kSum, kBatchMean)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(bool, log_target) = false;
};

namespace functional {

using KLDivFuncOptions = KLDivLossOptions;
using L1LossFuncOptions = L1LossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions =
    TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;

}  // namespace functional
}  // namespace torch::nn
