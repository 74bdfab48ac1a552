// Launching writes that keep an order; see params/index/ordered.h.
#include "hotaru/backend/cuda/index/ordered.h"

#include "hotaru/backend/cuda/sort/sort.h"
#include "hotaru/runtime/determinism.h"

namespace hotaru::cuda {
namespace {

/// Most positions of a sort, so that its memory is at most 40 bytes for each.
constexpr int64_t kMostPositions = int64_t{1} << 24;

const Function& function_for(DType dtype, WriteMode mode) {
  static constinit const Functions functions[] = {
      Functions("OrderedAssign"), Functions("OrderedAdd"),
      Functions("OrderedMultiply"), Functions("OrderedMax"),
      Functions("OrderedMin")};
  if (mode == WriteMode::kAssign) return functions[0].of_size(itemsize(dtype));
  return functions[size_t(mode)].of(dtype);
}

/// Geometry of what lies side by side.
Geometry<3> line_of(const void* elements, void* whole, int64_t count,
                    int64_t item) {
  Geometry<3> line;
  line.address = {const_cast<char*>(static_cast<const char*>(elements)),
                  static_cast<char*>(whole), nullptr};
  line.add(count, {item, 0, 0});
  return line;
}

/// Tells whether two positions that differ in this dimension alone, the index
/// being the same, have different targets.
bool is_column(const Geometry<3>::Strides& strides) {
  return strides[2] == 0 && strides[1] != 0;
}

/// `finding` tells where positions write, as many at a time as a sort takes.
void write_in_turns(const Function& finding, const IndexedParams& params,
                    const Geometry<3>& positions, Geometry<2> columns,
                    DType dtype, WriteMode mode) {
  const int64_t most = std::min(most_ordered(), positions.numel());
  const Workspace targets{size_t(most) * sizeof(int64_t)};
  positions.for_stretches(
      [&](const Geometry<3>& part, int64_t) {
        TargetsParams p{params, static_cast<int64_t*>(targets.data())};
        p.indexed.index = part.address[2];
        p.indexed.numel = uint32_t(part.numel());
        p.indexed.at = part.index();
        launch(finding, {blocks_for(part.numel(), kStridedItems)}, kBlock, p);
        columns.address = {part.address[0], part.address[1]};
        write_ordered({part, columns, p.targets}, dtype, mode);
      },
      0, most);
}

}  // namespace

bool keeps_order(DType dtype, WriteMode mode) {
  return determinism().required &&
         (mode == WriteMode::kAssign || is_differentiable(dtype));
}

int64_t most_ordered() {
  return std::min(kMostPositions, most_elements());
}

void write_ordered(const OrderedWrite& what, DType dtype, WriteMode mode) {
  const Function& function = function_for(dtype, mode);
  const auto count = what.positions.numel();
  const SortedEntries sorted(what.targets, uint32_t(count));
  OrderedParams p;
  p.sorted = sorted.data();
  p.entries = uint32_t(count);
  p.positions = what.positions.index();
  what.columns.for_parts(
      [&](const Geometry<2>& columns) {
        p.part = columns.address[0];
        p.whole = columns.address[1];
        p.columns = Divider(uint32_t(columns.numel()));
        p.beside = columns.index();
        launch(function, {blocks_for(count * columns.numel(), kBlock)}, kBlock,
               p);
      },
      std::max<int64_t>(1, most_elements() / count));
}

void add_ordered(const void* elements, void* whole, const int64_t* targets,
                 int64_t count, DType dtype) {
  line_of(elements, whole, count, int64_t(itemsize(dtype)))
      .for_stretches(
          [&](const Geometry<3>& line, int64_t before) {
            Geometry<2> column;
            column.address = {line.address[0], line.address[1]};
            write_ordered({line, column, targets + before}, dtype,
                          WriteMode::kAdd);
          },
          0, most_ordered());
}

void write_indexed_ordered(const Geometry<3>& row_major,
                           const IndexedParams& params, DType dtype,
                           WriteMode mode) {
  static const Function finding("IndexTargets");
  Geometry<3> positions;
  positions.address = row_major.address;
  Geometry<2> columns;
  for (size_t d = 0; d < size_t(row_major.dims); ++d) {
    const auto& step = row_major.strides[d];
    if (is_column(step))
      columns.add(row_major.sizes[d], {step[0], step[1]});
    else
      positions.add(row_major.sizes[d], step);
  }
  write_in_turns(finding, params, positions, columns, dtype, mode);
}

void add_strided_ordered(const Geometry<2>& space, DType dtype) {
  static const Function finding("StridedTargets");
  Geometry<3> positions;
  positions.address = {space.address[1], space.address[0], nullptr};
  for (size_t d = 0; d < size_t(space.dims); ++d)
    positions.add(space.sizes[d],
                  {space.strides[d][1], space.strides[d][0], 0});
  write_in_turns(finding, {}, positions, {}, dtype, WriteMode::kAdd);
}

}  // namespace hotaru::cuda
