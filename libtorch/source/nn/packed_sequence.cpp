#include <algorithm>

#include "torch/nn/utils/rnn.h"

namespace torch::nn::utils::rnn {

namespace {

std::vector<int64_t> integers(const Tensor& t) {
  const Tensor on_host = t.to(kCPU, kLong).contiguous();
  const int64_t* data = on_host.const_data_ptr<int64_t>();
  return {data, data + on_host.numel()};
}
Tensor vector_of(const std::vector<int64_t>& values) {
  return torch::tensor(values, kLong);
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  Tensor out = torch::empty_like(permutation);
  out.scatter_(0, permutation,
               torch::arange(0, permutation.numel(), permutation.options()));
  return out;
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes,
                               Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined()
                            ? std::move(unsorted_indices)
                            : invert_permutation(sorted_indices_)) {
  TORCH_CHECK(batch_sizes_.device().is_cpu(),
              "batch_sizes should always be on CPU. Instances of "
              "PackedSequence should never be created manually. They should be "
              "instantiated by functions like pack_sequence and "
              "pack_padded_sequences in nn::utils::rnn. "
              "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn."
              "pack_sequence");
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  const Tensor moved = data_.to(options);
  if (moved.is_same(data_)) return *this;
  const auto index = [&](const Tensor& t) {
    return t.defined() ? t.to(moved.device(), kLong) : t;
  };
  return {moved, batch_sizes_, index(sorted_indices_),
          index(unsorted_indices_)};
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths,
                                    bool batch_first, bool enforce_sorted) {
  lengths = lengths.to(kCPU, kLong);
  Tensor order;
  if (!enforce_sorted) {
    std::tie(lengths, order) = torch::sort(lengths, -1, /*descending=*/true);
    order = order.to(input.device());
    input = input.index_select(batch_first ? 0 : 1, order);
  }
  if (batch_first) input = input.transpose(0, 1);
  const std::vector<int64_t> n = integers(lengths);
  TORCH_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  TORCH_CHECK(int64_t(n.size()) == input.size(1),
              "Expected `len(lengths)` to be equal to batch_size, but got ",
              n.size(), " (batch_size=", input.size(1), ")");
  TORCH_CHECK(n.back() > 0,
              "Length of all samples has to be greater than 0, but found an "
              "element in 'lengths' that is <= 0");
  TORCH_CHECK(std::is_sorted(n.rbegin(), n.rend()),
              "`lengths` array must be sorted in decreasing order when "
              "`enforce_sorted` is True. You can pass `enforce_sorted=False` "
              "to pack_padded_sequence and/or pack_sequence to sidestep this "
              "requirement if you do not need ONNX exportability.");
  std::vector<int64_t> sizes;
  std::vector<Tensor> steps;
  for (int64_t t = 0; t < n[0]; ++t) {
    const auto left = std::count_if(n.begin(), n.end(),
                                    [t](int64_t length) { return length > t; });
    sizes.push_back(left);
    steps.push_back(input[t].narrow(0, 0, left));
  }
  return {torch::cat(steps), vector_of(sizes), order, {}};
}

std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first, double padding_value,
    std::optional<int64_t> total_length) {
  const std::vector<int64_t> sizes = integers(sequence.batch_sizes());
  const int64_t longest = int64_t(sizes.size());
  TORCH_CHECK(!total_length || *total_length >= longest,
              "Expected total_length to be at least the length of the longest "
              "sequence in input, but got total_length=",
              total_length.value_or(0), " and max sequence length being ",
              longest);
  const int64_t batch = sizes.at(0);
  std::vector<Tensor> steps;
  std::vector<int64_t> lengths(size_t(batch), 0);
  int64_t start = 0;
  for (const int64_t size : sizes) {
    const Tensor step = sequence.data().narrow(0, start, size);
    std::vector<int64_t> pad(size_t(2 * step.dim()), 0);
    pad.back() = batch - size;
    steps.push_back(size == batch
                        ? step
                        : torch::constant_pad_nd(step, pad, padding_value));
    for (int64_t i = 0; i < size; ++i) ++lengths[size_t(i)];
    start += size;
  }
  Tensor padded = torch::stack(steps);
  if (total_length && *total_length > longest) {
    std::vector<int64_t> pad(size_t(2 * padded.dim()), 0);
    pad.back() = *total_length - longest;
    padded = torch::constant_pad_nd(padded, pad, padding_value);
  }
  if (batch_first) padded = padded.transpose(0, 1);
  Tensor of = vector_of(lengths);
  if (const Tensor& back = sequence.unsorted_indices(); back.defined()) {
    padded = padded.index_select(batch_first ? 0 : 1, back);
    of = of.index_select(0, back.cpu());
  }
  return {padded, of};
}

Tensor pad_sequence(at::ArrayRef<Tensor> sequences, bool batch_first,
                    double padding_value, std::string_view padding_side) {
  TORCH_CHECK(padding_side == "left" || padding_side == "right",
              "Expected padding_side to be one of left or right, but got ",
              padding_side, ".");
  TORCH_CHECK(!sequences.empty(), "received an empty list of sequences");
  int64_t longest = 0;
  for (const Tensor& t : sequences) longest = std::max(longest, t.size(0));
  std::vector<Tensor> padded;
  for (const Tensor& t : sequences) {
    std::vector<int64_t> pad(size_t(2 * t.dim()), 0);
    // The last pair is dimension 0's: before it, and behind.
    pad[pad.size() - (padding_side == "left" ? 2 : 1)] = longest - t.size(0);
    padded.push_back(torch::constant_pad_nd(t, pad, padding_value));
  }
  return torch::stack(padded, batch_first ? 0 : 1);
}

PackedSequence pack_sequence(at::ArrayRef<Tensor> sequences,
                             bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& t : sequences) lengths.push_back(t.size(0));
  return pack_padded_sequence(rnn::pad_sequence(sequences), vector_of(lengths),
                              /*batch_first=*/false, enforce_sorted);
}

}  // namespace torch::nn::utils::rnn
