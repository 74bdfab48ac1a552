#include "hotaru/backend/cuda/fused/rows.h"

#include <algorithm>
#include <array>
#include <optional>

#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/fused/set_values.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"
#include "hotaru/backend/cuda/params/reduce.h"

namespace hotaru::cuda::fused {
namespace {

constexpr int kOperands = FusedRowParams::kMostOperands;
using Space = Geometry<kOperands>;

bool aligned(const Tensor* t) {
  return !t || reinterpret_cast<uintptr_t>(t->address()) % 16 == 0;
}

/// Tells whether the separate kernels share rows by vectors: their sums are in
/// that order. Nothing if one does and another one does not.
std::optional<bool> vectors_of(const RowText& text, const FusedRowParams& p) {
  std::optional<bool> all;
  for (const RowPart& part : text.parts) {
    const bool whole =
        int64_t{p.columns} * int64_t(itemsize(part.in->dtype())) % 16 == 0;
    // A single row may be reduced by vectors and a rest.
    if (part.kind == RowPart::kReduce && p.rows == 1 && !whole) return {};
    const bool vectors = whole && aligned(part.in) && aligned(part.out);
    if (all && *all != vectors) return {};
    all = vectors;
  }
  return all;
}

/// Bits of the operands that vectors of `length` elements reach.
uint32_t whole_of(const RowText& text, const FusedRowParams& p,
                  const Space& rows, uint32_t length) {
  uint32_t bits = 0;
  for (size_t k = 0; k < text.values.operands.size(); ++k) {
    const auto item = int64_t(itemsize(text.values.operands[k]->dtype()));
    const int64_t vector = item * length;
    bool whole =
        p.step[k] == item &&
        reinterpret_cast<uintptr_t>(p.address[k]) % uintptr_t(vector) == 0;
    for (int d = 0; d < rows.dims; ++d)
      whole = whole && rows.strides[size_t(d)][k] % vector == 0;
    bits |= uint32_t(whole) << k;
  }
  return bits;
}

}  // namespace

bool run_rows(const RowText& text,
              const std::shared_ptr<BackgroundKernel>& kernel) {
  if (text.elements->numel() >= most_elements()) return false;
  FusedRowParams p;
  std::array<const Tensor*, kOperands> tensors{};
  std::array<char*, kOperands> address{};
  for (size_t k = 0; k < text.values.operands.size(); ++k) {
    tensors[k] = text.values.operands[k];
    p.address[k] = device_address(*tensors[k]);
    address[k] = static_cast<char*>(p.address[k]);
  }
  const IntSpan sizes = text.elements->sizes();
  const Space::Steps steps =
      Space::steps_of(tensors, Space::checked_dims(sizes));
  const size_t lead = sizes.size() - text.row_dims;
  const Space rows = Space::over(address, sizes.first(lead), steps, false);
  Space::Steps inside{};
  std::copy_n(steps.begin() + ptrdiff_t(lead), text.row_dims, inside.begin());
  const Space row =
      Space::over(address, sizes.last(text.row_dims), inside, false);
  if (row.dims != 1) return false;
  p.rows = uint32_t(rows.numel());
  p.columns = uint32_t(row.numel());
  p.lanes = row_lanes(p.columns);
  p.index = rows.index();
  for (size_t k = 0; k < kOperands; ++k) p.step[k] = row.strides[0][k];
  const std::optional<bool> vectors = vectors_of(text, p);
  if (!vectors) return false;
  p.vectors = *vectors;
  const uint32_t length = reduce_length(itemsize(text.parts[0].in->dtype()));
  if (p.vectors) p.whole = whole_of(text, p, rows, length);
  const int device = launching_timeline().device();
  const auto* const program =
      BackgroundKernel::ready(kernel, text.text, device);
  if (!program) return false;
  set_values(p, text.values);
  launch_fused(*program, device,
               {unsigned(ceil_divide(p.rows, kBlock / p.lanes))}, &p);
  return true;
}

}  // namespace hotaru::cuda::fused
