// Machine code on disk, and what is read out of a kernel's text.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "hotaru/backend/cuda/jit/cache.h"

namespace hotaru::cuda::jit {
namespace {

namespace fs = std::filesystem;

class KernelCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("hotaru-cache-test-" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  size_t files() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      (void)entry;
      ++count;
    }
    return count;
  }

  fs::path folder_;
};

TEST_F(KernelCache, GivesWhatItWasGiven) {
  const ImageCache cache(folder_);
  EXPECT_FALSE(cache.find("key"));
  const Image image{std::string("\0\1code\0", 7), "symbol"};
  cache.put("key", image);
  cache.put("other", {"", ""});
  ASSERT_TRUE(cache.find("key"));
  EXPECT_EQ(cache.find("key")->code, image.code);
  EXPECT_EQ(cache.find("key")->symbol, image.symbol);
  EXPECT_EQ(cache.find("other")->code, "");
  EXPECT_FALSE(cache.find("ke"));
}

TEST_F(KernelCache, ComparesTheWholeKey) {
  // As if two keys had one hash: another's file lies under this one's name.
  const ImageCache cache(folder_);
  cache.put("one", {"code", "symbol"});
  fs::rename(cache.path_of("one"), cache.path_of("another"));
  EXPECT_FALSE(cache.find("another"));
}

TEST_F(KernelCache, DropsWhatWasAskedForLongestAgo) {
  const ImageCache cache(folder_, 5000);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (int i = 0; i < 4; ++i) {
    cache.put(std::to_string(i), {std::string(1000, 'x'), "f"});
    fs::last_write_time(cache.path_of(std::to_string(i)),
                        old + std::chrono::seconds(i));
  }
  EXPECT_TRUE(cache.find("0"));  // now the newest
  cache.put("4", {std::string(1000, 'x'), "f"});
  EXPECT_FALSE(cache.find("1"));
  for (const char* left : {"0", "2", "3", "4"}) EXPECT_TRUE(cache.find(left));
}

TEST_F(KernelCache, ClearsUpBehindProcessesThatEnded) {
  const ImageCache cache(folder_);
  cache.put("key", {"code", "f"});
  const fs::path left = folder_ / "x.kernel.1.0.new",
                 fresh = folder_ / "y.kernel.1.0.new";
  std::ofstream(left) << "half";
  std::ofstream(fresh) << "half";
  fs::last_write_time(left,
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.put("another", {"code", "f"});
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_EQ(files(), 3u);
}

TEST_F(KernelCache, ThreadsShareIt) {
  const ImageCache cache(folder_, 20000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string key = std::to_string(i % 7);
        const std::string code(size_t(1000 + i % 7), char('a' + i % 7));
        if (const auto found = cache.find(key))
          EXPECT_EQ(found->code, code);
        else
          cache.put(key, {code, "f" + std::to_string(t)});
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(KernelText, NamesItsGlobalFunctions) {
  EXPECT_EQ(global_functions(R"(
    __global__ void plain(int* p);
    extern "C" __global__ void __launch_bounds__(128, 2) bounded(int* p) {}
    template <class T> static __global__
    __attribute__((noinline)) void shaped(const T* p) { plain(p); }
    __global__ void plain(int* p) { other(p); }
    __device__ int none(int);
  )"),
            (std::vector<std::string>{"plain", "bounded", "shaped"}));
  EXPECT_TRUE(global_functions("__global__").empty());
  EXPECT_TRUE(global_functions("__global__ void f").empty());
  EXPECT_TRUE(global_functions("__global__ __launch_bounds__(").empty());
}

TEST(KernelText, KeysTellPartsApart) {
  const CompilerInput a{"text", "name", {"-a", "b"}, "13.0", false};
  CompilerInput b = a;
  EXPECT_EQ(a.key(), b.key());
  b.options = {"-ab"};
  EXPECT_NE(a.key(), b.key());
  b.options = {"-a", "b", ""};
  EXPECT_NE(a.key(), b.key());
}

}  // namespace
}  // namespace hotaru::cuda::jit
