// Launching what joins, reverses and cuts tensors; see params/join.h.
#include "hotaru/backend/common/shape/join.h"

#include "hotaru/backend/common/index/index.h"
#include "hotaru/backend/cuda/create/move.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/join.h"

namespace hotaru::cuda {
namespace {

/// An input of "cat", in bytes.
struct Piece {
  const char* data;
  int64_t offset, row;
};

/// The largest word in which addresses and lengths of all pieces count.
size_t word_of(const void* out, int64_t out_row,
               const std::vector<Piece>& pieces) {
  uint64_t bits = reinterpret_cast<uintptr_t>(out) | uint64_t(out_row) | 16;
  for (const Piece& piece : pieces)
    bits |= reinterpret_cast<uintptr_t>(piece.data) | uint64_t(piece.row);
  return size_t(bits & (~bits + 1));
}

/// More than a kernel counts: by itself.
void cat_large(char* out, int64_t out_row, const Piece& piece, int64_t rows,
               int64_t word) {
  Geometry<2>::Steps steps{};
  steps[0] = {out_row, piece.row};
  steps[1] = {word, word};
  move_elements(
      Geometry<2>::over({out + piece.offset, const_cast<char*>(piece.data)},
                        Dims{rows, piece.row / word}, steps),
      size_t(word));
}

/// Operands: result, inputs, all row-major.
void cat(const KernelCall& call) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  const auto dim = size_t(call.attributes<CatAttributes>().dim);
  const auto item = int64_t(itemsize(out.dtype()));
  const int64_t rows = numel_of(out.sizes().first(dim));
  const int64_t inner = numel_of(out.sizes().subspan(dim + 1)) * item;
  const int64_t out_row = out.sizes()[dim] * inner;
  auto* to = static_cast<char*>(device_address(out));
  std::vector<Piece> pieces;
  int64_t offset = 0;
  for (size_t i = 1; i < call.operands().size(); ++i) {
    const Tensor& in = call.tensor(i);
    const int64_t row = in.sizes()[dim] * inner;
    if (row > 0)
      pieces.push_back({static_cast<char*>(device_address(in)), offset, row});
    offset += row;
  }
  const auto word = int64_t(word_of(to, out_row, pieces));
  static constinit const Functions functions("Cat");
  const Function& function = functions.of_size(size_t(word));
  CatParams p;
  p.out = to;
  p.out_row = out_row / word;
  Grid grid{0, 0};
  const auto flush = [&] {
    launch(function, grid, kBlock, p);
    grid = {0, 0};
  };
  for (const Piece& piece : pieces) {
    const int64_t numel = rows * (piece.row / word);
    if (numel > most_elements()) {
      cat_large(to, out_row, piece, rows, word);
      continue;
    }
    p.inputs[grid.y++] = {piece.data, piece.offset / word, uint32_t(numel),
                          Divider(uint32_t(piece.row / word))};
    grid.x = std::max(grid.x, blocks_for(numel, kStridedItems));
    if (grid.y == CatParams::kMost) flush();
  }
  flush();
}

/// Operands: result, input; of at least one element and dimension.
void flip(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  const uint64_t dims = call.attributes<FlipAttributes>().dims;
  const auto item = int64_t(itemsize(in.dtype()));
  auto* from = static_cast<char*>(device_address(in));
  Geometry<2>::Steps steps{};
  for (size_t d = 0; d < size_t(in.dim()); ++d) {
    int64_t step = in.strides()[d] * item;
    if (dims >> d & 1) {
      from += (in.sizes()[d] - 1) * step;
      step = -step;
    }
    steps[d] = {out.strides()[d] * item, step};
  }
  move_elements(
      Geometry<2>::over({static_cast<char*>(device_address(out)), from},
                        in.sizes(), steps),
      size_t(item));
}

/// A triangle in halves, until a kernel can count its elements.
void triangle_parts(std::array<char*, 2> address, Dims sizes,
                    const Geometry<2>::Steps& steps, TriangleParams p,
                    const Function& function) {
  const size_t rows = sizes.size() - 2, columns = sizes.size() - 1;
  if (numel_of(sizes) > most_elements()) {
    const size_t largest =
        size_t(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    const int64_t half = sizes[largest] / 2;
    Dims low = sizes;
    low[largest] = half;
    triangle_parts(address, low, steps, p, function);
    sizes[largest] -= half;
    for (size_t k = 0; k < 2; ++k) address[k] += half * steps[largest][k];
    if (largest == rows) p.diagonal += half;
    if (largest == columns) p.diagonal -= half;
    return triangle_parts(address, sizes, steps, p, function);
  }
  const auto space = Geometry<2>::over(address, sizes, steps, false);
  p.out = address[0];
  p.in = address[1];
  p.numel = uint32_t(space.numel());
  p.rows = Divider(uint32_t(sizes[rows]));
  p.columns = Divider(uint32_t(sizes[columns]));
  p.at = space.index();
  launch(function, {blocks_for(p.numel, kStridedItems)}, kBlock, p);
}

/// Operands: result, input, which may be the same.
void triangle(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  if (in.numel() == 0) return;
  const auto& a = call.attributes<TriangleAttributes>();
  const auto item = int64_t(itemsize(in.dtype()));
  Geometry<2>::Steps steps{};
  for (size_t d = 0; d < size_t(in.dim()); ++d)
    steps[d] = {out.strides()[d] * item, in.strides()[d] * item};
  static constinit const Functions functions("Triangle");
  TriangleParams p;
  p.upper = a.upper;
  // Diagonals further out change nothing, whatever the attribute says.
  p.diagonal = std::clamp(a.diagonal, -in.size(-2) - 1, in.size(-1) + 1);
  triangle_parts({static_cast<char*>(device_address(out)),
                  static_cast<char*>(device_address(in))},
                 Dims(in.sizes()), steps, p, functions.of_size(size_t(item)));
}

HOTARU_KERNEL(kCUDA, "cat", cat);
HOTARU_KERNEL(kCUDA, "flip", flip);
HOTARU_KERNEL(kCUDA, "triangle", triangle);

}  // namespace
}  // namespace hotaru::cuda
