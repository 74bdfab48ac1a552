// Tests of operators on CUDA devices: two of them in software, unless the
// environment names a driver.
#include <gtest/gtest.h>

#include <cstdlib>

/// AddressSanitizer guesses where thread-local memory of libraries that were
/// opened lies, wrongly where a block begins behind a page's first 16 bytes;
/// its search for leaks then reads anywhere.
extern "C" const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}

int main(int argc, char** argv) {
  // Before anybody asks for a device, and without overwriting a choice.
  setenv("HOTARU_CUDA_DRIVER", "soft:2", 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
