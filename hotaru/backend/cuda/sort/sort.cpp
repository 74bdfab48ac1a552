// Launching sorts, selections along a dimension, and searches in sorted rows;
// see params/sort/sort.h.
#include "hotaru/backend/cuda/sort/sort.h"

#include <atomic>
#include <utility>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/common/sort/search.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/params/sort/radix.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<RealAndBoolTypes> kSortTypes{
    2, "sorting_kernel_method_name"};
constexpr KernelTypes<RealTypes> kTopkTypes{2, "topk_impl_loop"};
constexpr KernelTypes<RealTypes> kKthvalueTypes{2, "kthvalue_cuda"};
constexpr KernelTypes<RealTypes> kMedianTypes{2, "median_cuda"};
constexpr KernelTypes<RealAndBoolTypes> kModeTypes{2, "mode_cuda"};
constexpr KernelTypes<RealTypes> kSearchTypes{1, "searchsorted_out_cuda"};

int64_t bytes(const Tensor& t, size_t dim) {
  return t.strides()[dim] * int64_t(itemsize(t.dtype()));
}

/// Entries while they are sorted: from one half into the other and back.
size_t room_for(const SortParams& p) {
  const size_t entries = size_t(p.lines) * p.length;
  return entries * sizeof(SortEntry) * (p.length > kSortTile ? 2 : 1);
}

// From which length on lines are sorted by digits, of up to 32 bits and of
// more: what merges would take as many walks over the memory, as three
// launches a digit are worth. Unmeasured.
std::atomic<uint32_t> radix_length{1 << 18}, long_radix_length{1 << 20};
// Blocks for each processor.
std::atomic<int> radix_blocks{4};

/// Sorts lines by digits in a room for two halves of entries; where the sorted
/// ones are is returned.
SortEntry* sort_by_digits(SortParams p, DType dtype, SortEntry* room) {
  static constinit const Functions entering("RadixEntries");
  static constinit const Functions counting("RadixCount");
  static constinit const Functions scattering("RadixScatter");
  static const Function scanning("RadixScan"), last("RadixScatter_last");
  const size_t item = itemsize(dtype), entries = size_t(p.lines) * p.length;
  const bool packed = item <= 4;
  // Packed ones change places in the second half, and end in the first.
  const size_t bytes = packed ? sizeof(uint64_t) : sizeof(SortEntry);
  char* from = reinterpret_cast<char*>(room + (packed ? entries : 0));
  char* to = from + entries * bytes;
  p.to = reinterpret_cast<SortEntry*>(from);
  launch(entering.of(dtype), {blocks_for(int64_t(entries), kBlock)}, kBlock, p);
  RadixParams r;
  r.length = p.length;
  plan_radix(r, p.lines,
             int64_t{properties(launching_timeline().device()).processors} *
                 radix_blocks);
  const uint32_t blocks = p.lines * r.blocks.divisor;
  const Workspace counts(size_t(blocks) * kRadixDigits * sizeof(uint32_t));
  const Workspace totals(size_t(p.lines) * kRadixDigits * sizeof(uint32_t));
  r.counts = static_cast<uint32_t*>(counts.data());
  r.totals = static_cast<uint32_t*>(totals.data());
  const uint32_t passes =
      dtype == DType::kBool ? 1 : radix_passes(uint32_t(item));
  for (uint32_t pass = 0; pass < passes; ++pass, r.shift += kRadixBits) {
    const bool ends = packed && pass + 1 == passes;
    r.from = from;
    r.to = ends ? room : static_cast<void*>(to);
    launch(counting.of_size(bytes), {blocks}, kBlock, r);
    launch(scanning, {p.lines * kRadixDigits}, kBlock, r);
    launch(ends ? last : scattering.of_size(bytes), {blocks}, kBlock, r);
    std::swap(from, to);
  }
  return packed ? room : reinterpret_cast<SortEntry*>(from);
}

SortParams line_of(const int64_t* keys, uint32_t length) {
  SortParams p;
  p.in = keys;
  p.in_step = sizeof(*keys);
  p.length = length;
  return p;
}

/// Sorts the lines of a part and puts what p asks for.
void sort_part(const Geometry<3>& part, SortParams p, DType dtype) {
  static constinit const Functions ending("SortEnd");
  p.values = part.address[0];
  p.indices = part.address[1];
  p.in = part.address[2];
  p.lines = uint32_t(part.numel());
  p.others = part.index();
  const SortedEntries sorted(p, dtype);
  p.from = sorted.data();
  launch(ending.of(dtype), {blocks_for(part.numel() * p.count, kBlock)}, kBlock,
         p);
}

/// Operands: values, indices, input.
void sort_lines(const KernelCall& call, int64_t along, SortParams p) {
  const Tensor &values = call.tensor(0), &indices = call.tensor(1),
               &in = call.tensor(2);
  if (values.numel() == 0 || in.numel() == 0) return;
  const auto dim = size_t(along);
  int64_t length = 1;
  if (in.dim() > 0) {
    length = in.sizes()[dim];
    p.value_step = bytes(values, dim);
    p.index_step = bytes(indices, dim);
    p.in_step = bytes(in, dim);
  }
  HOTARU_CHECK(length < kMostElements, call.kernel().name(),
               " along 2^31 elements and more is not implemented for CUDA");
  p.length = uint32_t(length);
  Geometry<3> others;
  others.address = {static_cast<char*>(device_address(values)),
                    static_cast<char*>(device_address(indices)),
                    static_cast<char*>(device_address(in))};
  for (size_t d = Geometry<3>::checked_dims(in.sizes()); d-- > 0;)
    if (d != dim)
      others.add(in.sizes()[d],
                 {bytes(values, d), bytes(indices, d), bytes(in, d)});
  others.for_parts(
      [&](const Geometry<3>& part) { sort_part(part, p, in.dtype()); },
      std::max<int64_t>(1, most_elements() / ceil_divide(length, kSortTile)));
}

void sort(const KernelCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  const Tensor& in = call.tensor(2);
  SortParams p;
  p.descending = a.descending;
  p.count = in.dim() > 0 ? uint32_t(in.sizes()[size_t(a.dim)]) : 1;
  sort_lines(call, a.dim, p);
}

/// Sorted whether asked for or not.
void topk(const KernelCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  SortParams p;
  p.descending = a.descending;
  p.count = uint32_t(a.k);
  sort_lines(call, a.dim, p);
}

void kthvalue(const KernelCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  SortParams p;
  p.first = uint32_t(a.k - 1);
  sort_lines(call, a.dim, p);
}

void median(const KernelCall& call) {
  const auto& a = call.attributes<MedianAttributes>();
  SortParams p;
  p.pick = SortPick::kMedian;
  p.skip_nan = a.skip_nan;
  sort_lines(call, a.dim, p);
}

void mode(const KernelCall& call) {
  SortParams p;
  p.pick = SortPick::kMode;
  sort_lines(call, call.attributes<LineAttributes>().dim, p);
}

/// Operands: positions (int64 or int32), boundaries, values and optionally the
/// order that sorts the boundaries; as the CPU's.
void searchsorted(const KernelCall& call) {
  static constinit const Functions functions("SearchSorted");
  const Tensor &out = call.tensor(0), &boundaries = call.tensor(1),
               &values = call.tensor(2);
  const auto& a = call.attributes<SearchAttributes>();
  if (values.numel() == 0) return;
  SearchParams p;
  p.out = device_address(out);
  p.boundaries = boundaries.numel() ? device_address(boundaries) : nullptr;
  p.values = device_address(values);
  if (call.operands().size() > 3)
    p.order = static_cast<const int64_t*>(device_address(call.tensor(3)));
  p.numel = values.numel();
  p.length = boundaries.size(-1);
  p.per_row = boundaries.dim() == 1 || values.dim() == 0 ? values.numel()
                                                         : values.size(-1);
  p.narrow = out.dtype() == DType::kInt32;
  p.right = a.right;
  p.nan_last = a.nan_last;
  launch(functions.of(boundaries.dtype()), {blocks_for(p.numel, kBlock)},
         kBlock, p);
}

HOTARU_KERNEL(kCUDA, "sort", sort, check_types<kSortTypes>);
HOTARU_KERNEL(kCUDA, "topk", topk, check_types<kTopkTypes>);
HOTARU_KERNEL(kCUDA, "kthvalue", kthvalue, check_types<kKthvalueTypes>);
HOTARU_KERNEL(kCUDA, "median", median, check_types<kMedianTypes>);
HOTARU_KERNEL(kCUDA, "mode", mode, check_types<kModeTypes>);
HOTARU_KERNEL(kCUDA, "searchsorted", searchsorted, check_types<kSearchTypes>);

}  // namespace

void set_radix(uint32_t length, int blocks) {
  radix_length = long_radix_length = length;
  radix_blocks = blocks;
}

SortedEntries::SortedEntries(SortParams p, DType dtype) : room_(room_for(p)) {
  static constinit const Functions sorting("SortTiles");
  static const Function merging("SortMerge");
  const int64_t entries = int64_t{p.lines} * p.length;
  auto* sorted = static_cast<SortEntry*>(room_.data());
  const auto& longest = itemsize(dtype) <= 4 ? radix_length : long_radix_length;
  if (p.length > kSortTile && p.length >= longest.load()) {
    sorted_ = sort_by_digits(p, dtype, sorted);
    return;
  }
  SortEntry* other = sorted + (p.length > kSortTile ? entries : 0);
  p.tiles = Divider(uint32_t(ceil_divide(p.length, kSortTile)));
  p.to = sorted;
  launch(sorting.of(dtype), {p.lines * p.tiles.divisor}, kBlock, p);
  for (p.width = kSortTile; p.width < p.length; p.width *= 2) {
    p.from = sorted;
    p.to = other;
    launch(merging, {blocks_for(entries, kBlock)}, kBlock, p);
    std::swap(sorted, other);
  }
  sorted_ = sorted;
}

SortedEntries::SortedEntries(const int64_t* keys, uint32_t length)
    : SortedEntries(line_of(keys, length), DType::kInt64) {}

}  // namespace hotaru::cuda
