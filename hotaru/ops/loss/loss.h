// Losses. `reduction`: 0 leaves one value an element, 1 takes the mean, 2 the
// sum. Inputs and targets broadcast unless a comment says otherwise.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

enum Reduction : int64_t { kNoReduction = 0, kMean = 1, kSum = 2 };

Tensor mse_loss(const Tensor& self, const Tensor& target,
                int64_t reduction = kMean);
Tensor l1_loss(const Tensor& self, const Tensor& target,
               int64_t reduction = kMean);
/// Quadratic below beta, linear above; huber_loss is delta times that.
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target,
                      int64_t reduction = kMean, double beta = 1);
Tensor huber_loss(const Tensor& self, const Tensor& target,
                  int64_t reduction = kMean, double delta = 1);

/// self: log probabilities [C], [N, C] or [N, C, ...]; target: classes (int64
/// or uint8) without the C; weight: [C] or undefined.
Tensor nll_loss_nd(const Tensor& self, const Tensor& target,
                   const Tensor& weight = {}, int64_t reduction = kMean,
                   int64_t ignore_index = -100);
/// self: logits shaped as above; target: classes, or probabilities of self's
/// shape.
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const Tensor& weight = {}, int64_t reduction = kMean,
                          int64_t ignore_index = -100,
                          double label_smoothing = 0);
/// self: probabilities; logarithms are cut off at -100.
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target,
                            const Tensor& weight = {},
                            int64_t reduction = kMean);
Tensor binary_cross_entropy_with_logits(const Tensor& self,
                                        const Tensor& target,
                                        const Tensor& weight = {},
                                        const Tensor& pos_weight = {},
                                        int64_t reduction = kMean);
Tensor kl_div(const Tensor& self, const Tensor& target,
              int64_t reduction = kMean, bool log_target = false);

/// Reduces a loss to what is left of it.
Tensor reduce_loss(const Tensor& loss, int64_t reduction);

}  // namespace hotaru
