// How the driver's table is found, and what is said if it isn't.
#include "hotaru/backend/cuda/driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "hotaru/core/error.h"
#include "tests/cpp/child.h"

namespace hotaru::cuda {
namespace {

std::string reason(const char* choice) {
  std::string why_not;
  EXPECT_EQ(nullptr, open_driver(choice, why_not)) << choice;
  return why_not;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// The devices that a process with this value sees; -1 without a driver.
int devices(const char* choice) {
  return status_of_child([&] {
    setenv("HOTARU_CUDA_DRIVER", choice, 1);
    std::string why_not;
    const Driver* driver = load_driver(why_not);
    int count = -1;
    if (!driver || !driver->soft() || driver->cuInit(0) != CUDA_SUCCESS ||
        driver->cuDeviceGetCount(&count) != CUDA_SUCCESS)
      _exit(99);
    _exit(count);
  });
}

TEST(Driver, LoadsTheSoftOne) {
  EXPECT_EQ(1, devices("soft"));
  EXPECT_EQ(4, devices("soft:4"));
  EXPECT_EQ(99, devices("soft:0"));
  EXPECT_EQ(99, devices("soft:x"));
  EXPECT_EQ(99, devices("soft:17"));
}

TEST(Driver, TheSoftOneBeginsByItselfAfterAWhile) {
  const int status = status_of_child([] {
    setenv("HOTARU_CUDA_DRIVER", "soft", 1);
    unsetenv("HOTARU_SOFT_GPU_DELAY_US");
    std::string why_not;
    const Driver& driver = *load_driver(why_not);
    CUcontext context = nullptr;
    std::atomic<bool> ran = false;
    check(driver.cuInit(0), "cuInit");
    check(driver.cuDevicePrimaryCtxRetain(&context, 0), "retain");
    check(driver.cuCtxSetCurrent(context), "set current");
    check(driver.cuStreamAddCallback(
              kLegacyStream,
              [](CUstream, CUresult, void* ran) {
                *static_cast<std::atomic<bool>*>(ran) = true;
              },
              &ran, 0),
          "cuStreamAddCallback");
    while (!ran) usleep(100);
  });
  EXPECT_EQ(0, status);
}

TEST(Driver, SaysWhyThereIsNone) {
  EXPECT_TRUE(contains(reason("/no/such/driver.so"), "/no/such/driver.so"));
  EXPECT_TRUE(contains(reason("soft:99"), "expected soft:N"));
  unsetenv("HOTARU_LACKING_VERSION");
  const std::string lacking = reason(HOTARU_LACKING_DRIVER);
  EXPECT_TRUE(contains(lacking, " lacks cuGetErrorName, ")) << lacking;
  EXPECT_FALSE(contains(lacking, "cuInit")) << lacking;
  setenv("HOTARU_LACKING_VERSION", "11040", 1);
  const std::string old = reason(HOTARU_LACKING_DRIVER);
  EXPECT_TRUE(contains(old, "too old: it supports CUDA 11.4, needed is 12.0"))
      << old;
}

TEST(Driver, ErrorsHavePyTorchsText) {
  const int status = status_of_child([] {
    setenv("HOTARU_CUDA_DRIVER", "soft", 1);
    check(CUDA_SUCCESS, "nothing");
    try {
      check(CUDA_ERROR_ILLEGAL_ADDRESS, "cuStreamSynchronize");
    } catch (const Error& error) {
      const std::string text = error.what();
      _exit(text.starts_with(
                "CUDA error: an illegal memory access was encountered\n") &&
                    contains(text, "cuStreamSynchronize")
                ? 3
                : 4);
    }
  });
  EXPECT_EQ(3, status);
}

}  // namespace
}  // namespace hotaru::cuda
