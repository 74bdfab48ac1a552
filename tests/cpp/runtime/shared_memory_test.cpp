#include "hotaru/runtime/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "hotaru/core/error.h"

namespace hotaru {
namespace {

Tensor floats(const Ref<SharedMemory>& memory, int64_t count,
              bool taken = false) {
  return shared_tensor(memory, DType::kFloat32, Dims{count}, Dims{1}, 0, taken);
}

TEST(SharedMemory, IsZeroedAlignedAndFoundByAnyAddress) {
  const auto memory = SharedMemory::create(1000);
  EXPECT_GE(memory->nbytes(), 1000u);
  auto* bytes = static_cast<char*>(memory->data());
  EXPECT_EQ(uintptr_t(bytes) % 64, 0u);
  for (size_t i = 0; i < memory->nbytes(); ++i) ASSERT_EQ(bytes[i], 0);
  EXPECT_EQ(SharedMemory::find(bytes), memory);
  EXPECT_EQ(SharedMemory::find(bytes + memory->nbytes() - 1), memory);
  EXPECT_NE(SharedMemory::find(bytes + memory->nbytes()), memory);
  int local = 0;
  EXPECT_FALSE(SharedMemory::find(&local));
}

TEST(SharedMemory, IsNotFoundOnceGone) {
  auto memory = SharedMemory::create(10);
  const void* at = memory->data();
  memory = {};
  EXPECT_FALSE(SharedMemory::find(at));
}

TEST(SharedMemory, CountsWhoLooks) {
  const auto memory = SharedMemory::create(64);
  EXPECT_TRUE(memory->idle());
  {
    const Tensor a = floats(memory, 4);
    const Tensor view = make_alias(a);
    EXPECT_FALSE(memory->idle());
  }
  EXPECT_TRUE(memory->idle());
  memory->take();  // as a sender does for its receiver
  EXPECT_FALSE(memory->idle());
  floats(memory, 4, true);
  EXPECT_TRUE(memory->idle());
}

TEST(SharedMemory, TwoMappingsShareContentsAndCount) {
  const auto one = SharedMemory::create(64);
  const auto two = SharedMemory::map(dup(one->descriptor()));
  ASSERT_NE(one->data(), two->data());
  const Tensor t = floats(one, 4);
  t.data<float>()[2] = 5;
  EXPECT_EQ(static_cast<float*>(two->data())[2], 5);
  EXPECT_FALSE(two->idle());
}

TEST(SharedMemory, OutlivesItsDescriptor) {
  const auto memory = SharedMemory::create(64);
  memory->close_descriptor();
  EXPECT_EQ(memory->descriptor(), -1);
  static_cast<char*>(memory->data())[0] = 1;
  EXPECT_THROW(SharedMemory::map(memory->descriptor()), Error);
}

TEST(SharedMemory, RejectsWhatIsNoBlock) {
  EXPECT_THROW(SharedMemory::map(memfd_create("empty", 0)), Error);
  EXPECT_THROW(SharedMemory::map(open("/dev/null", O_RDWR)), Error);
  EXPECT_THROW(SharedMemory::create(size_t{1} << 60), Error);
}

TEST(SharedMemory, RejectsGeometryOutsideOfTheBlock) {
  const auto memory = SharedMemory::create(64);
  const auto count = int64_t(memory->nbytes() / sizeof(float));
  floats(memory, count);
  EXPECT_THROW(floats(memory, count + 1), Error);
  EXPECT_TRUE(memory->idle());
}

// The child may look at the tensor as long as it lives, and the parent cannot
// know how long that is.
TEST(SharedMemory, IsNeverIdleAgainWhenAChildWasForkedMeanwhile) {
  const auto memory = SharedMemory::create(64);
  {
    const Tensor seen = floats(memory, 4);
    const pid_t child = fork();
    if (child == 0) _exit(SharedMemory::find(memory->data()) ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_FALSE(memory->idle());
}

TEST(SharedMemory, IsFoundWhileOthersComeAndGo) {
  const auto kept = SharedMemory::create(64);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        const auto memory = SharedMemory::create(100);
        EXPECT_EQ(SharedMemory::find(memory->data()), memory);
        EXPECT_EQ(SharedMemory::find(kept->data()), kept);
        floats(kept, 4);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(kept->idle());
}

}  // namespace
}  // namespace hotaru
