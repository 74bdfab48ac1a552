// Tables of kernels' functions: what they are called, and that there is one of
// each.
#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <thread>
#include <vector>

#include "hotaru/backend/cuda/launch.h"

namespace hotaru::cuda {
namespace {

TEST(CudaFunctions, AreCalledByDtypeOrSize) {
  static constinit const Functions plain("Fill"), passes("Move", "_s");
  EXPECT_EQ(plain.of(DType::kBFloat16).symbol(), "Fill_bf16");
  EXPECT_EQ(plain.of(DType::kUInt8).symbol(), "Fill_u8");
  EXPECT_EQ(plain.of_size(1).symbol(), "Fill_1");
  EXPECT_EQ(passes.of_size(16).symbol(), "Move_16_s");
  EXPECT_EQ(passes.of(DType::kComplex128).symbol(), "Move_c128_s");
}

TEST(CudaFunctions, AreMadeOnce) {
  static constinit const Functions functions("Sum");
  std::set<const Function*> all;
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
        DType::kUInt8, DType::kInt8, DType::kInt16, DType::kInt32,
        DType::kInt64, DType::kBool, DType::kComplex64, DType::kComplex128})
    all.insert(&functions.of(dtype));
  for (const size_t bytes : {1, 2, 4, 8, 16})
    all.insert(&functions.of_size(bytes));
  EXPECT_EQ(all.size(), 17u);
  const Function* first = &functions.of(DType::kInt64);
  EXPECT_EQ(&functions.of(DType::kInt64), first);
}

TEST(CudaFunctions, ThreadsGetTheSameOne) {
  // Functions live for ever, and so must the tables that know them.
  static auto* tables = new std::deque<Functions>;
  for (int round = 0; round < 50; ++round) {
    const Functions& functions = tables->emplace_back("Sum");
    const Function* found[4];
    {
      std::vector<std::jthread> threads;
      for (const Function*& f : found)
        threads.emplace_back([&] { f = &functions.of(DType::kFloat32); });
    }
    for (const Function* f : found) EXPECT_EQ(f, found[0]);
  }
}

}  // namespace
}  // namespace hotaru::cuda
