// Tests of operators on CUDA devices: two of them in software, unless the
// environment names a driver.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  // Before anybody asks for a device, and without overwriting a choice.
  setenv("HOTARU_CUDA_DRIVER", "soft:2", 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
