#include "hotaru/backend/cuda/graph/scratch.h"

#include <algorithm>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::cuda {
namespace {

constexpr size_t kAlignment = 256;
// As small as the allocator's pages are.
constexpr size_t kLeastPiece = size_t{2} << 20;

size_t bytes_of(const Tensor& piece) {
  return piece.storage()->nbytes();
}
char* data_of(const Tensor& piece) {
  return static_cast<char*>(piece.address());
}

}  // namespace

size_t Scratch::lowest(size_t piece, size_t bytes) const {
  std::vector<std::pair<size_t, size_t>> taken;
  for (const Used& used : used_)
    if (used.piece == piece && blocks(used))
      taken.emplace_back(used.begin, used.end);
  std::sort(taken.begin(), taken.end());
  size_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (begin >= offset + bytes) break;
    offset = std::max(offset, end);
  }
  return offset;
}

void* Scratch::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  size_t piece = 0, offset = 0;
  for (; piece < pool_.pieces.size(); ++piece) {
    if (fixed_ && !pieces_.contains(piece)) continue;
    offset = lowest(piece, bytes);
    if (offset + bytes <= bytes_of(pool_.pieces[piece])) break;
  }
  if (piece == pool_.pieces.size()) {
    if (fixed_) return nullptr;
    pool_.pieces.push_back(
        hotaru::allocate(Dims{int64_t(std::max(bytes, kLeastPiece))},
                         DType::kUInt8, {DeviceType::kCUDA, int8_t(device_)}));
    offset = 0;
  }
  pieces_.insert(piece);
  used_.push_back({piece, offset, offset + bytes, call_, true});
  return data_of(pool_.pieces[piece]) + offset;
}

void Scratch::deallocate(void* data) {
  for (Used& used : used_)
    if (used.open && data_of(pool_.pieces[used.piece]) + used.begin == data)
      used.open = false;
}

void Scratch::clear() {
  used_.clear();
  if (!fixed_) pieces_.clear();
}

std::vector<Tensor> Scratch::pieces() const {
  std::vector<Tensor> out;
  for (const size_t piece : pieces_) out.push_back(pool_.pieces[piece]);
  return out;
}

}  // namespace hotaru::cuda
