#include "hotaru/backend/cuda/fused/row_part.h"

#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/common/reduce/row_reduction.h"
#include "hotaru/backend/cuda/fused/attention_text.h"
#include "hotaru/backend/cuda/fused/writer.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"
#include "hotaru/backend/cuda/reduce/formula.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda::fused {
namespace {

bool side_by_side(const Tensor& t) {
  return t.defined() && !is_number(t) && t.numel() > 0 && t.is_contiguous() &&
         type_name(t.dtype());
}

/// Softmax of the last dimension.
RowPart softmax_part(const KernelCall& call, RowPart::Kind kind) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  if (in.dim() == 0 || dim != in.dim() - 1 || out.dtype() != in.dtype() ||
      !is_floating_point(in.dtype()) || !side_by_side(out))
    return {};
  return {kind, &in, &out, in.sizes()[size_t(dim)]};
}

/// Layer norm: all rows have the same weights.
RowPart norm_part(const KernelCall& call) {
  const auto& a = call.attributes<RowNormAttributes>();
  const Tensor &out = call.tensor(0), &in = call.tensor(3);
  if (a.step != 0 || a.inner != 1 || a.rows == 0 || out.dtype() != in.dtype() ||
      !is_floating_point(in.dtype()) || !side_by_side(out))
    return {};
  for (const size_t i : {4, 5}) {
    const Tensor& weight = call.tensor(i);
    if (weight.defined() && (is_number(weight) || !type_name(weight.dtype())))
      return {};
  }
  return {RowPart::kNorm, &in, &out, a.columns};
}

RowPart any_part(const KernelCall& call) {
  const std::string& name = call.kernel().name();
  if (name == "softmax") return softmax_part(call, RowPart::kSoftmax);
  if (name == "log_softmax") return softmax_part(call, RowPart::kLogSoftmax);
  if (name == "row_norm") return norm_part(call);
  if (!reduce_formula(call).name.empty())
    return {RowPart::kReduce, &call.tensor(1), nullptr,
            row_of(call.tensor(0), call.tensor(1))};
  return {};
}

}  // namespace

RowPart row_part(const KernelCall& call) {
  const RowPart part = any_part(call);
  const bool fits = part.kind != RowPart::kNone && side_by_side(*part.in) &&
                    part.columns > 1 && part.columns <= kMostColumns;
  return fits ? part : RowPart();
}

FusedRole fused_role(const KernelCall& call) {
  const RowPart part = row_part(call);
  if (part.kind != RowPart::kNone)
    return {FusedRole::kRows, part.in, part.columns};
  if (!reduce_formula(call).name.empty() && call.tensor(0).numel() > 0 &&
      call.tensor(1).numel() > 0 && !is_number(call.tensor(1)) &&
      type_name(call.tensor(1).dtype()))
    return {FusedRole::kReduces, &call.tensor(1), 0};
  if (has_epilogue(call)) return {FusedRole::kHead, &call.tensor(0), 0};
  if (is_elementwise(call)) return {FusedRole::kElements, &call.tensor(0), 0};
  if (is_channel_norm(call)) return {FusedRole::kChannels, &call.tensor(0), 0};
  return {};
}

}  // namespace hotaru::cuda::fused
