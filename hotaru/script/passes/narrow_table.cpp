#include "hotaru/script/passes/narrow_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hotaru/backend/common/index/narrow_rows.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/half.h"
#include "hotaru/core/host.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/operators.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::script {
namespace {

constexpr const char* kName = "narrow_table";

int64_t columns_of_part(const Tensor& table, const NarrowTableForm& form) {
  return form.group > 0 ? form.group : table.size(1);
}

void pack8(const float* from, int64_t n, float low, float high, uint8_t* to) {
  const float tail[2] = {(high - low) / 255.0f, low};
  const float by = 255.0f / (high - low + 1e-8f);
  for (int64_t i = 0; i < n; ++i)
    to[i] = uint8_t(std::nearbyint((from[i] - low) * by));
  std::memcpy(to + n, tail, sizeof tail);
}

void pack4(const float* from, int64_t n, float low, float high, uint8_t* to) {
  Half bias(low);
  const float range = high - float(bias);
  Half scale(range == 0 ? 1.0f : range / 15.0f);
  if (float(scale) == 0) scale = Half(1.0f);
  float by = 1.0f / float(scale);
  if (std::isinf(by)) scale = Half(by = 1.0f);
  for (int64_t i = 0; i < n; i += 2) {
    int q[2];
    for (int64_t j = 0; j < 2; ++j) {
      const float level = std::nearbyint((from[i + j] - float(bias)) * by);
      q[j] = int(std::clamp(level, 0.0f, 15.0f));
    }
    to[i / 2] = uint8_t(q[0] | q[1] << 4);
  }
  std::memcpy(to + n / 2, &scale, sizeof scale);
  std::memcpy(to + n / 2 + sizeof scale, &bias, sizeof bias);
}

}  // namespace

bool is_narrowable(const Tensor& table, const NarrowTableForm& form) {
  if (table.dtype() != DType::kFloat32 || !table.device().is_cpu() ||
      table.dim() != 2 || table.numel() == 0)
    return false;
  const int64_t part = columns_of_part(table, form);
  if (table.size(1) % part != 0 || part % (8 / form.bits) != 0) return false;
  const float most = form.bits == 8 ? 1e38f : 3e4f;
  const Tensor whole = contiguous(table);
  const float* from = host_data<float>(whole, kName);
  return std::all_of(from, from + whole.numel(),
                     [&](float w) { return std::abs(w) <= most; });
}

Tensor narrow_table(const Tensor& table, const NarrowTableForm& form) {
  HOTARU_CHECK_AS(
      ValueError, is_narrowable(table, form), kName, ": a table of ", form.bits,
      " bits should be a matrix of float32 numbers on the CPU, of "
      "whole parts and not too large, got ",
      scalar_type_name(table.dtype()), " of shape ", shape_text(table.sizes()));
  const Tensor whole = contiguous(table);
  const int64_t width = columns_of_part(table, form);
  const int64_t parts = whole.size(1) / width;
  const int64_t bytes = width * form.bits / 8 + narrow_tail(form.bits);
  Tensor out =
      allocate(Dims{whole.size(0), parts, bytes}, DType::kUInt8, Device{});
  const float* from = host_data<float>(whole, kName);
  auto* to = host_data<uint8_t>(out, kName);
  for (int64_t i = 0; i < whole.size(0) * parts; ++i) {
    const auto [low, high] = std::minmax_element(from, from + width);
    (form.bits == 8 ? &pack8 : &pack4)(from, width, *low, *high, to);
    from += width;
    to += bytes;
  }
  return out;
}

const Tensor* constant_table(const Node& node) {
  if (node.kind != NodeKind::kOp || node.op->name() != "embedding" ||
      node.inputs.size() != 5)
    return nullptr;
  const Value* table = node.constant(0);
  if (!table || !table->is_tensor() || !table->tensor_ref().defined())
    return nullptr;
  return &table->tensor_ref();
}

}  // namespace hotaru::script
