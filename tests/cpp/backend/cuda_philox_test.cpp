// The generator behind CUDA's draws, and which of its words elements get.
#include <gtest/gtest.h>

#include <cmath>

#include "hotaru/backend/cuda/params/random/random.h"

namespace hotaru::cuda {
namespace {

void expect_words(const Words4& got, uint32_t x, uint32_t y, uint32_t z,
                  uint32_t w) {
  EXPECT_EQ(got.x, x);
  EXPECT_EQ(got.y, y);
  EXPECT_EQ(got.z, z);
  EXPECT_EQ(got.w, w);
}

// The known answers of Random123 1.14, kat_vectors.
TEST(CudaPhilox, GivesTheKnownAnswers) {
  const uint32_t ones = ~0u;
  expect_words(philox({0, 0, 0, 0}, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
               0x9b00dbd8);
  expect_words(philox({ones, ones, ones, ones}, ones, ones), 0x408f276d,
               0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expect_words(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                      0xa4093822, 0x299f31d0),
               0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST(CudaPhilox, CountsPast32Bits) {
  const PhiloxState state{{0x299f31d0a4093822, 0x85a308d3243f6a87}};
  expect_words(state.words(0x0370734413198a2e, 1), 0xd16cfe09, 0x94fdcceb,
               0x5001e420, 0x24126ea1);
}

/// Elements of n of which the uniform number is below one half, on a GPU of so
/// many processors, with seed 0.
int64_t below_half(int processors, uint32_t n) {
  const uint32_t threads = draw_blocks(n, processors, 2048) * kBlock;
  const PhiloxState state;
  int64_t count = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t place = i / threads;
    const Words4 w = state.words(i % threads, place / 4);
    const uint32_t words[] = {w.x, w.y, w.z, w.w};
    const float u = std::fma(float(words[place % 4]), 0x1p-32f, 0x1p-33f);
    count += u < 0.5f;
  }
  return count;
}

// Sums that two users of PyTorch got of dropout(ones(1000, 1000)), at
// github.com/pytorch/pytorch/issues/25690: 999826 on a P100 (56 processors) and
// 999100 on a K80 (13).
TEST(CudaPhilox, GivesElementsTheWordsThatPyTorchGivesThem) {
  EXPECT_EQ(2 * below_half(56, 1000000), 999826);
  EXPECT_EQ(2 * below_half(13, 1000000), 999100);
}

TEST(CudaPhilox, MovesOnAsPyTorchDoes) {
  EXPECT_EQ(draw_blocks(1, 132, 2048), 1u);
  EXPECT_EQ(draw_blocks(270337, 132, 2048), 1056u);
  EXPECT_EQ(draws_of(1, 1, 4), 4u);
  EXPECT_EQ(draws_of(270336 * 4, 1056, 4), 4u);
  EXPECT_EQ(draws_of(270336 * 4 + 1, 1056, 4), 8u);
  EXPECT_EQ(draws_of(270336 * 4, 1056, 2), 8u);
}

}  // namespace
}  // namespace hotaru::cuda
