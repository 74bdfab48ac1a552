// How the GPU in software runs kernels, and what it says of wrong ones.
#include <cmath>
#include <numeric>
#include <set>

#include "tests/cpp/cuda/example_kernels.h"
#include "tests/cpp/cuda/soft_device.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru::soft_gpu {
namespace {

using namespace hotaru::cuda;

TEST_F(SoftGpu, SumsExactly) {
  std::vector<float> numbers(5000);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  float *in = floats(numbers.size()), *out = floats(1);
  for (const unsigned block : {32u, 96u, 256u, 1024u}) {
    upload(in, numbers);
    upload(out, {0});
    EXPECT_EQ(CUDA_SUCCESS,
              launch("block_sum", 7, block, nullptr, SumParams{in, out, 5000}));
    EXPECT_EQ(5000.0f * 5001 / 2, download(out, 1)[0]) << block;
  }
  free(in);
  free(out);
}

TEST_F(SoftGpu, VotesAndShuffles) {
  std::vector<float> none(8 * 64, -1);
  float* out = floats(none.size());
  upload(out, none);
  EXPECT_EQ(CUDA_SUCCESS, launch("votes", 1, 64, nullptr, CellParams{out, 0}));
  const std::vector<float> found = download(out, none.size());
  for (int n = 0; n < 40; ++n) {
    const bool second = n >= 32;
    const std::vector<float> expected{0xAA,
                                      10,
                                      second ? 1.0f : 0.0f,
                                      second ? 0.0f : 1.0f,
                                      1,
                                      0,
                                      float(n == 0 || n == 32 ? n : n - 1),
                                      float(n % 32 / 8 * 8 + n / 32 * 32)};
    EXPECT_EQ(expected, std::vector<float>(found.begin() + 8 * n,
                                           found.begin() + 8 * n + 8))
        << n;
  }
  EXPECT_EQ(-1, found[8 * 40]);
  free(out);
}

TEST_F(SoftGpu, AMissingBarrierShows) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6, 7, 8, 0};
  float* cell = floats(numbers.size());
  std::set<std::vector<float>> results[2];
  for (int i = 0; i < 40; ++i) {
    upload(cell, numbers);
    EXPECT_EQ(CUDA_SUCCESS,
              launch("reversed", 1, 8, nullptr, CellParams{cell, i % 2}, 32));
    auto found = download(cell, numbers.size());
    EXPECT_TRUE(std::isnan(found.back()));  // as shared memory was before
    found.pop_back();
    for (float& x : found) x = std::isnan(x) ? -1 : x;
    results[i % 2].insert(found);
  }
  EXPECT_EQ(1u, results[0].size());
  EXPECT_EQ(1u, results[0].count({8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_GT(results[1].size(), 5u);
  free(cell);
}

TEST_F(SoftGpu, FaultsAreErrorsThatStay) {
  use(3);
  float* cell = floats(1);
  float* nobodys = reinterpret_cast<float*>(4096);
  launch("add_one", 1, 1, nullptr, CellParams{nobodys, 0});
  EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree_v2(address(cell)));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS,
            cuStreamQuery(nullptr));  // and everything else
  use(0);
  float* whole = floats(1);  // another device works on
  upload(whole, {1});
  launch("add_one", 1, 1, nullptr, CellParams{whole, 0});
  EXPECT_EQ(2, download(whole, 1)[0]);
  free(whole);
  // A context anew is whole.
  EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRelease_v2(3));
  EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&contexts_[3], 3));
  use(3);
  upload(cell, {1});
  EXPECT_EQ(1, download(cell, 1)[0]);
  free(cell);
  use(0);
}

/// Fixture that asks for a context's error after one launch.
class SoftGpuErrors : public SoftGpu {
 protected:
  CUresult after(const char* kernel, CellParams params, unsigned block = 64) {
    EXPECT_EQ(CUDA_SUCCESS, launch(kernel, 1, block, nullptr, params));
    const CUresult error = cuCtxSynchronize();
    EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRelease_v2(0));
    EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&contexts_[0], 0));
    return error;
  }
};

TEST_F(SoftGpuErrors, OverrunAndUseAfterFree) {
  float* cell = floats(256);
  EXPECT_EQ(CUDA_SUCCESS, after("set_to", {cell, 1}, 256));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, after("set_to", {cell, 1}, 257));
  free(cell);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, after("set_to", {cell, 1}, 1));
}

TEST_F(SoftGpuErrors, AnotherDevicesMemory) {
  use(1);
  float* theirs = floats(64);
  use(0);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, after("set_to", {theirs, 1}));
  EXPECT_CU(CUDA_SUCCESS, cuCtxEnablePeerAccess(contexts_[1], 0));
  EXPECT_EQ(CUDA_SUCCESS, after("set_to", {theirs, 1}));
  EXPECT_EQ(1, download(theirs, 1)[0]);
  use(1);
  free(theirs);
  use(0);
}

TEST_F(SoftGpuErrors, WaitsThatNeverEnd) {
  for (const int what :
       {kMissingLane, kHalfAtShuffle, kForeignMask, kThrows, kDivides}) {
    if (what == kDivides && kAddressSanitizer) continue;  // UBSan's to say
    EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, after("misuse", {nullptr, what}))
        << what;
    EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED,
              after("misuse_as_calls", {nullptr, what}))
        << what;
  }
  // Calls that were left in the middle do not hinder the next.
  float *in = floats(64), *out = floats(1);
  upload(in, std::vector<float>(64, 1));
  upload(out, {0});
  launch("block_sum", 1, 64, nullptr, SumParams{in, out, 64});
  EXPECT_EQ(64, download(out, 1)[0]);
  free(in);
  free(out);
}

TEST_F(SoftGpuErrors, LimitsOfLaunches) {
  const CUfunction f = function("add_one");
  CellParams params{nullptr, 0};
  void* all[] = {&params};
  const auto launch = [&](unsigned grid_y, unsigned block, unsigned shared) {
    return cuLaunchKernel(f, 1, grid_y, 1, block, 1, 1, shared, nullptr, all,
                          nullptr);
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(1, 1025, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(1, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(65536, 1, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(1, 1, (48 << 10) + 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuFuncSetAttribute(
                f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10));
  EXPECT_CU(CUDA_SUCCESS,
            cuFuncSetAttribute(
                f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10));
  float* cell = floats(1);
  params.cell = cell;
  EXPECT_EQ(CUDA_SUCCESS, launch(1, 1, 227 << 10));
  EXPECT_CU(CUDA_SUCCESS, cuCtxSynchronize());
  int blocks = 0;
  EXPECT_CU(CUDA_SUCCESS,
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 0));
  EXPECT_EQ(8, blocks);
  free(cell);
}

}  // namespace
}  // namespace hotaru::soft_gpu
