// The GPU in software reads the environment once, so all tests see the same.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("HOTARU_CUDA_DRIVER", "soft:8", 1);
  setenv("HOTARU_SOFT_GPU_MEMORY", "67108864", 1);
  setenv("HOTARU_SOFT_GPU_DELAY_US", "3600000000", 1);  // not by itself
  testing::InitGoogleTest(&argc, argv);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  return RUN_ALL_TESTS();
}
