#include "hotaru/script/passes/group_weight.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/half.h"
#include "hotaru/core/host.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::script {
namespace {

constexpr const char* kName = "group_weight";
constexpr float kLargest = 1e38f;

/// Integers of one group; writes its scale and zero to `pair`.
void quantize(const float* from, int64_t count, uint8_t* to, BFloat16* pair) {
  const auto [low, high] = std::minmax_element(from, from + count);
  const double least = *low, most = *high;
  pair[1] = BFloat16(float(least + 8 * (most - least) / 15));
  const double zero = float(pair[1]);
  const double step = std::max((zero - least) / 8, (most - zero) / 7);
  pair[0] = BFloat16(float(std::max(step, 0x1p-100)));
  const double scale = float(pair[0]);
  for (int64_t i = 0; i < count; ++i) {
    const double level = std::nearbyint((double(from[i]) - zero) / scale);
    to[i] = uint8_t(std::clamp(level, -8.0, 7.0) + 8);
  }
}

/// A block of rows of integers [rows, k] as bytes [k, rows / 2].
void pack(const uint8_t* q, int64_t rows, int64_t k, uint8_t* to) {
  const int64_t bytes = (rows + 1) / 2;
  const bool whole = rows == kInt4Rows;
  for (int64_t c = 0; c < k; ++c)
    for (int64_t i = 0; i < bytes; ++i) {
      const int64_t low = whole ? i : 2 * i;
      const int64_t high = whole ? i + bytes : low + 1;
      const int other = high < rows ? q[high * k + c] : 0;
      *to++ = uint8_t(q[low * k + c] | other << 4);
    }
}

}  // namespace

bool is_group_size(int64_t group) {
  return group == 32 || group == 64 || group == 128;
}

bool is_groupable(const Tensor& weight, int64_t group) {
  if (weight.dtype() != DType::kFloat32 || !weight.device().is_cpu() ||
      weight.dim() != 2 || weight.numel() == 0 || weight.size(1) % group != 0)
    return false;
  const Tensor whole = contiguous(weight);
  const float* from = host_data<float>(whole, kName);
  return std::all_of(from, from + whole.numel(),
                     [](float w) { return std::abs(w) <= kLargest; });
}

GroupedWeight group_weight(const Tensor& weight, int64_t group) {
  HOTARU_CHECK_AS(ValueError, is_group_size(group), kName,
                  ": a group should have 32, 64 or 128 columns, got ", group);
  HOTARU_CHECK_AS(ValueError, is_groupable(weight, group), kName,
                  ": a weight should be a matrix of float32 numbers up to ",
                  kLargest, " on the CPU, with groups of ", group,
                  " columns, got ", scalar_type_name(weight.dtype()),
                  " of shape ", shape_text(weight.sizes()));
  const Tensor whole = contiguous(weight);
  const int64_t n = whole.size(0), k = whole.size(1), groups = k / group;
  // Where all blocks are whole, each has its scales in one place.
  const bool whole_blocks = n % kInt4Rows == 0;
  const int64_t together = whole_blocks ? kInt4Rows : n;
  Dims shape{groups, together, 2};
  if (whole_blocks) shape.insert(0, n / kInt4Rows);
  GroupedWeight out{allocate(Dims{n + n % 2, k / 2}, DType::kUInt8, Device{}),
                    allocate(shape, DType::kBFloat16, Device{})};
  const float* from = host_data<float>(whole, kName);
  auto* packed = host_data<uint8_t>(out.packed, kName);
  auto* scales = host_data<BFloat16>(out.scales, kName);
  std::vector<uint8_t> block(size_t(std::min(n, kInt4Rows) * k));
  for (int64_t row = 0; row < n; row += kInt4Rows) {
    const int64_t rows = std::min(kInt4Rows, n - row);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t g = 0; g < groups; ++g)
        quantize(from + (row + i) * k + g * group, group,
                 block.data() + i * k + g * group,
                 scales + 2 * int4_pair(row + i, g, groups, together));
    pack(block.data(), rows, k, packed + row * (k / 2));
  }
  return out;
}

}  // namespace hotaru::script
