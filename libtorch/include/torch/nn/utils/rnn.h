// Sequences of different lengths in one tensor.
#pragma once

#include <optional>
#include <vector>

#include "torch/types.h"

namespace torch::nn::utils::rnn {

/// Where each element of a permutation is; undefined for an undefined one.
Tensor invert_permutation(const Tensor& permutation);

/// Sequences step by step: at each step those that have not ended, the longest
/// first. A value; what recurrent layers take.
class PackedSequence {
 public:
  PackedSequence() = default;
  /// data (steps of all, ...), batch_sizes on the CPU: sequences at each step.
  PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                 Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  /// From the caller's order to the order by length, and back; undefined where
  /// they came sorted.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

  PackedSequence to(TensorOptions options) const;
  PackedSequence cpu() const { return to(TensorOptions(kCPU)); }
  PackedSequence cuda() const { return to(TensorOptions(kCUDA)); }
  Device device() const { return data_.device(); }
  bool is_cuda() const { return data_.is_cuda(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// Packs padded sequences (T, B, ...), or (B, T, ...) with batch_first. With
/// enforce_sorted lengths must descend.
PackedSequence pack_padded_sequence(Tensor input, Tensor lengths,
                                    bool batch_first = false,
                                    bool enforce_sorted = true);
/// The reverse: padded sequences and their lengths.
std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first = false,
    double padding_value = 0.0,
    std::optional<int64_t> total_length = std::nullopt);
/// Sequences (length, ...) side by side; padding is at the "right" or "left"
/// end of each.
Tensor pad_sequence(at::ArrayRef<Tensor> sequences, bool batch_first = false,
                    double padding_value = 0,
                    std::string_view padding_side = "right");
PackedSequence pack_sequence(at::ArrayRef<Tensor> sequences,
                             bool enforce_sorted = true);

}  // namespace torch::nn::utils::rnn
