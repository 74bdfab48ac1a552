// Padded batches of sequences as packed ones, and back. Sequences stand by
// decreasing length; a packed batch has all first steps, then all second ones,
// and so on.
#include <algorithm>
#include <tuple>
#include <vector>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/scalar.h"
#include "hotaru/ops/boxing.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

// Steps that follow each other and have as many sequences.
struct Run {
  int64_t first, steps, sequences;
};

std::vector<Run> runs_of(const std::vector<int64_t>& batch_sizes) {
  std::vector<Run> out;
  for (size_t t = 0; t < batch_sizes.size(); ++t) {
    if (out.empty() || out.back().sequences != batch_sizes[t])
      out.push_back({int64_t(t), 0, batch_sizes[t]});
    ++out.back().steps;
  }
  return out;
}

// How many of the decreasing numbers are above each of 0, 1, ...: of lengths
// how many reach each step, of these again the lengths.
std::vector<int64_t> conjugate(const std::vector<int64_t>& decreasing) {
  std::vector<int64_t> out;
  out.resize(size_t(decreasing[0]));
  size_t above = decreasing.size();
  for (size_t i = 0; i < out.size(); ++i) {
    while (decreasing[above - 1] <= int64_t(i)) --above;
    out[i] = int64_t(above);
  }
  return out;
}

bool decreases(const std::vector<int64_t>& values) {
  return std::is_sorted(values.rbegin(), values.rend());
}

std::vector<int64_t> integers_of(const Tensor& t, const char* name,
                                 const char* why) {
  HOTARU_CHECK(
      t.device().is_cpu() && t.dim() == 1 && t.dtype() == DType::kInt64, "'",
      name, "' argument should be a 1D CPU int64 tensor, but got ", t.dim(),
      "D ", t.device(), " ", scalar_type_name(t.dtype()), " tensor");
  return host_integers(t, why);
}

std::tuple<Tensor, Tensor> pack_padded_sequence(const Tensor& input,
                                                const Tensor& lengths,
                                                bool batch_first) {
  const std::vector<int64_t> counts =
      integers_of(lengths, "lengths", "the length of each sequence");
  HOTARU_CHECK(input.dim() >= 2 && input.numel() > 0,
               "Cannot pack empty tensors.");
  const Tensor steps = batch_first ? transpose(input, 0, 1) : input;
  const int64_t batch = steps.size(1);
  HOTARU_CHECK(int64_t(counts.size()) == batch,
               "Expected `len(lengths)` to be equal to batch_size, but got ",
               counts.size(), " (batch_size=", batch, ")");
  HOTARU_CHECK(*std::min_element(counts.begin(), counts.end()) > 0,
               "Length of all samples has to be greater than 0, but found an "
               "element in 'lengths' that is <= 0");
  HOTARU_CHECK(decreases(counts),
               "`lengths` array must be sorted in decreasing order when "
               "`enforce_sorted` is True. You can pass `enforce_sorted=False` "
               "to pack_padded_sequence and/or pack_sequence to sidestep this "
               "requirement if you do not need ONNX exportability.");
  HOTARU_CHECK(counts[0] <= steps.size(0), "Expected every length to be at ",
               "most ", steps.size(0), ", the number of steps of `input`, but ",
               "got ", counts[0]);
  const std::vector<int64_t> batch_sizes = conjugate(counts);
  Tensors parts;
  for (const Run& run : runs_of(batch_sizes)) {
    const Tensor part =
        narrow(narrow(steps, 0, run.first, run.steps), 1, 0, run.sequences);
    parts.push_back(flatten(part, 0, 1));
  }
  return {cat(parts), integers_on(batch_sizes, Device())};
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const Tensor& data,
                                               const Tensor& batch_sizes,
                                               bool batch_first,
                                               const Scalar& padding_value,
                                               int64_t total_length) {
  const std::vector<int64_t> sizes = integers_of(
      batch_sizes, "batch_sizes", "the number of rows of each step");
  HOTARU_CHECK(
      !sizes.empty() && sizes[0] > 0 && decreases(sizes) && sizes.back() >= 0,
      "_pad_packed_sequence: batch_sizes must be positive and "
      "decreasing");
  const int64_t longest = int64_t(sizes.size()), batch = sizes[0];
  HOTARU_CHECK(total_length <= 0 || total_length >= longest,
               "Expected total_length to be at least the length of the longest "
               "sequence in input, but got total_length=",
               total_length, " and max sequence length being ", longest);
  Dims rows;
  const std::vector<Run> runs = runs_of(sizes);
  for (const Run& run : runs) rows.push_back(run.steps * run.sequences);
  const Tensors split = split_with_sizes(data, rows);
  // Pairs from the last dimension on: of a part [steps, sequences, ...].
  std::vector<int64_t> around;
  around.resize(size_t(2 * (data.dim() + 1)));
  const size_t after_sequences = around.size() - 3;
  const size_t after_steps = around.size() - 1;
  Tensors parts;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    const bool last = i + 1 == runs.size();
    around[after_sequences] = batch - run.sequences;
    around[after_steps] =
        last ? std::max<int64_t>(total_length - longest, 0) : 0;
    const Dims steps = {run.steps, run.sequences};
    const Tensor part = unflatten(split[i], 0, steps);
    const bool whole = around[after_sequences] == 0 && around[after_steps] == 0;
    parts.push_back(whole ? part
                          : constant_pad_nd(part, around, padding_value));
  }
  const Tensor padded = cat(parts);
  return {batch_first ? transpose(padded, 0, 1) : padded,
          integers_on(conjugate(sizes), Device())};
}

}  // namespace

HOTARU_OP(
    "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> "
    "(Tensor, Tensor)",
    pack_padded_sequence);
HOTARU_OP(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, "
    "Scalar padding_value, int total_length) -> (Tensor, Tensor)",
    pad_packed_sequence);

}  // namespace hotaru
