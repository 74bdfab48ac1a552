// Random tensors. Values equal PyTorch's serial CPU draws for the same
// generator state; a null generator means the device's default one.
#pragma once

#include "hotaru/ops/create/factory.h"

namespace hotaru {

/// Generator that fills the tensor: the one given, or its device's. Throws if
/// the two are of different device types.
Generator& chosen(Generator* generator, const Tensor& self);

// In place; return self. Elements are drawn in memory order.

/// In [from, to).
Tensor uniform_(const Tensor& self, double from = 0, double to = 1,
                Generator* generator = nullptr);
Tensor normal_(const Tensor& self, double mean = 0, double std = 1,
               Generator* generator = nullptr);
Tensor exponential_(const Tensor& self, double lambda = 1,
                    Generator* generator = nullptr);
Tensor bernoulli_(const Tensor& self, double p = 0.5,
                  Generator* generator = nullptr);
/// The same in the order in which a device drops elements of `like`, which has
/// as many. self is dense.
Tensor draw_kept_(const Tensor& self, double p, const Tensor& like);
/// With a probability for each element; p is floating and broadcast.
Tensor bernoulli_(const Tensor& self, const Tensor& p,
                  Generator* generator = nullptr);
/// Integers in [from, to); up to the dtype's largest without `to`.
Tensor random_(const Tensor& self, int64_t from, Optional<int64_t> to,
               Generator* generator = nullptr);
/// Integers in the dtype's range that it represents without gaps.
Tensor random_(const Tensor& self, Generator* generator = nullptr);

// New tensors.

Tensor rand(IntSpan size, TensorOptions options = {},
            Generator* generator = nullptr);
Tensor randn(IntSpan size, TensorOptions options = {},
             Generator* generator = nullptr);
/// int64 unless the options say otherwise.
Tensor randint(int64_t low, int64_t high, IntSpan size,
               TensorOptions options = {}, Generator* generator = nullptr);
Tensor randperm(int64_t n, TensorOptions options = {},
                Generator* generator = nullptr);
/// 1 with probability self, else 0.
Tensor bernoulli(const Tensor& self, Generator* generator = nullptr);
/// Indices drawn by weight from each row of [n] or [m, n].
Tensor multinomial(const Tensor& self, int64_t num_samples,
                   bool replacement = false, Generator* generator = nullptr);

/// Elements set to zero with probability p, the others divided by 1 - p; the
/// input itself when not training or p is 0.
Tensor dropout(const Tensor& input, double p, bool train);
Tensor dropout_(const Tensor& self, double p, bool train);
/// Whole channels [n, c, ...] at once.
Tensor feature_dropout(const Tensor& input, double p, bool train);
/// Keeps mean and variance of what follows a SELU (Klambauer et al. 2017).
Tensor alpha_dropout(const Tensor& input, double p, bool train);

}  // namespace hotaru
