#include "hotaru/backend/cpu/random/cpu_generator.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "hotaru/core/checks/check.h"

namespace hotaru {
namespace {

/// The saved state. The fields after the words describe a cached normal draw
/// as old Torch did: y is the draw, x and rho are unused.
struct SavedState {
  uint64_t seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t words[Mt19937::kStateSize];
  double normal_x, normal_y, normal_rho;
  int32_t normal_valid;
  int32_t padding;
  float normal_float;
  uint8_t normal_float_valid;
  uint8_t padding2[3];
};
static_assert(sizeof(SavedState) == CpuGenerator::kStateBytes);
static_assert(std::endian::native == std::endian::little);

}  // namespace

void CpuGenerator::start(uint64_t seed) {
  initial_seed_ = seed;
  engine_.seed(uint32_t(seed));
  next_normal_double_.reset();
  next_normal_float_.reset();
}

double CpuGenerator::normal_double() {
  if (next_normal_double_) {
    double value = *next_normal_double_;
    next_normal_double_.reset();
    return value;
  }
  const double angle = 2.0 * std::numbers::pi * uniform_double();
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform_double()));
  next_normal_double_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

std::vector<uint8_t> CpuGenerator::get_state() const {
  SavedState saved{};
  const Mt19937::State& state = engine_.state();
  saved.seed = initial_seed_;
  saved.left = state.left;
  saved.seeded = 1;
  saved.next = uint64_t(state.next);
  std::copy(state.words.begin(), state.words.end(), saved.words);
  saved.normal_y = next_normal_double_.value_or(0.0);
  saved.normal_valid = next_normal_double_.has_value();
  saved.normal_float = next_normal_float_.value_or(0.0f);
  saved.normal_float_valid = next_normal_float_.has_value();
  std::vector<uint8_t> bytes(kStateBytes);
  std::memcpy(bytes.data(), &saved, kStateBytes);
  return bytes;
}

void CpuGenerator::set_state(std::span<const uint8_t> bytes) {
  HOTARU_CHECK(bytes.size() == kStateBytes,
               "Expected a CPUGeneratorImplState of size ", kStateBytes,
               " but found the input RNG state size to be ", bytes.size());
  SavedState saved;
  std::memcpy(&saved, bytes.data(), kStateBytes);
  HOTARU_CHECK(saved.seeded == 1 && saved.next <= Mt19937::kStateSize &&
                   saved.left <= Mt19937::kStateSize,
               "Invalid mt19937 state");
  Mt19937::State state;
  state.left = saved.left;
  state.next = int(saved.next);
  HOTARU_CHECK(state.valid(), "Invalid mt19937 state");
  for (int i = 0; i < Mt19937::kStateSize; ++i)
    state.words[i] = uint32_t(saved.words[i]);
  initial_seed_ = saved.seed;
  engine_ = Mt19937(state);
  next_normal_double_.reset();
  next_normal_float_.reset();
  if (saved.normal_valid) next_normal_double_ = saved.normal_y;
  if (saved.normal_float_valid) next_normal_float_ = saved.normal_float;
}

}  // namespace hotaru
