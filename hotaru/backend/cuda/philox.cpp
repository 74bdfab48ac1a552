#include "hotaru/backend/cuda/philox.h"

#include <cstring>

#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {

std::vector<uint8_t> PhiloxGenerator::get_state() const {
  std::vector<uint8_t> bytes(kStateBytes);
  std::memcpy(bytes.data(), &seed_, 8);
  std::memcpy(bytes.data() + 8, &offset_, 8);
  return bytes;
}

void PhiloxGenerator::set_state(std::span<const uint8_t> bytes) {
  // A state without an offset is one at its start, as PyTorch saved it once.
  HOTARU_CHECK(bytes.size() == kStateBytes || bytes.size() == 8,
               "RNG state is wrong size");
  uint64_t offset = 0;
  if (bytes.size() == kStateBytes) std::memcpy(&offset, bytes.data() + 8, 8);
  set_offset(offset);
  std::memcpy(&seed_, bytes.data(), 8);
}

void PhiloxGenerator::set_offset(uint64_t offset) {
  HOTARU_CHECK(offset % 4 == 0, "offset must be a multiple of 4");
  offset_ = offset;
}

uint64_t PhiloxGenerator::take(uint64_t draws) {
  const uint64_t before = offset_;
  offset_ += (draws + 3) / 4 * 4;
  return before;
}

}  // namespace hotaru::cuda
