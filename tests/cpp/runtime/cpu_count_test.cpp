#include "hotaru/runtime/threads/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace hotaru {
namespace {

/// A root folder with the given files in it.
class FakeRoot {
 public:
  explicit FakeRoot(const std::map<std::string, std::string>& files) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hotaru-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    for (const auto& [name, text] : files) {
      const std::filesystem::path path = root_ + "/" + name;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << text;
    }
  }
  ~FakeRoot() { std::filesystem::remove_all(root_); }
  double quota() const { return cgroup_cpu_quota(root_); }

 private:
  std::string root_;
};

TEST(CgroupQuota, V2TakesTheSmallestOfTheGroupAndItsParents) {
  const FakeRoot root({{"proc/self/cgroup", "0::/a/b\n"},
                       {"sys/fs/cgroup/a/cpu.max", "150000 100000\n"},
                       {"sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"}});
  EXPECT_DOUBLE_EQ(root.quota(), 1.5);
}

TEST(CgroupQuota, V2WithoutLimitIsZero) {
  EXPECT_EQ(FakeRoot({{"proc/self/cgroup", "0::/\n"},
                      {"sys/fs/cgroup/cpu.max", "max 100000\n"}})
                .quota(),
            0);
  EXPECT_EQ(FakeRoot({}).quota(), 0);
}

TEST(CgroupQuota, ContainersSeeTheirGroupAsRoot) {
  const FakeRoot root({{"proc/self/cgroup", "0::/docker/0123\n"},
                       {"sys/fs/cgroup/cpu.max", "200000 100000\n"}});
  EXPECT_DOUBLE_EQ(root.quota(), 2);
}

TEST(CgroupQuota, V1FindsTheCpuController) {
  for (const char* mount : {"cpu", "cpu,cpuacct"}) {
    const std::string group = std::string("sys/fs/cgroup/") + mount;
    const FakeRoot root(
        {{"proc/self/cgroup", "3:memory:/m\n2:cpu,cpuacct:/c\n"},
         {group + "/cpu.cfs_quota_us", "-1\n"},
         {group + "/cpu.cfs_period_us", "100000\n"},
         {group + "/c/cpu.cfs_quota_us", "50000\n"},
         {group + "/c/cpu.cfs_period_us", "100000\n"}});
    EXPECT_DOUBLE_EQ(root.quota(), 0.5) << mount;
  }
}

TEST(UsableCores, FollowTheAffinityMask) {
  cpu_set_t saved;
  ASSERT_EQ(sched_getaffinity(0, sizeof(saved), &saved), 0);
  std::thread([&] {  // the mask is the thread's
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &saved)) CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(usable_physical_cores(), 1);
    EXPECT_EQ(affinity_cpus(), 1);
  })
      .join();
  EXPECT_EQ(affinity_cpus(), CPU_COUNT(&saved));
}

/// Sets variables for the scope; without a value they are unset.
class Environment : public ::testing::Test {
 protected:
  Environment() {
    for (const char* name : kThreadVariables) {
      const char* value = getenv(name);
      if (value) saved_[name] = value;
      unsetenv(name);
    }
  }
  ~Environment() override {
    for (const char* name : kThreadVariables) {
      unsetenv(name);
      if (saved_.count(name)) setenv(name, saved_[name].c_str(), 1);
    }
  }
  std::map<std::string, std::string> saved_;
};

TEST_F(Environment, MklGoesBeforeOpenMp) {
  EXPECT_EQ(thread_count_from_environment(), 0);
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(thread_count_from_environment(), 3);
  setenv("MKL_NUM_THREADS", "5", 1);
  EXPECT_EQ(thread_count_from_environment(), 5);
  setenv("MKL_NUM_THREADS", "0", 1);
  EXPECT_EQ(thread_count_from_environment(), 3);
}

TEST_F(Environment, TakesOpenMpsListsAndBlanks) {
  for (const char* text : {"4", " 4 ", "4,2", "+4"}) {
    setenv("OMP_NUM_THREADS", text, 1);
    EXPECT_EQ(positive_env("OMP_NUM_THREADS"), 4) << text;
    EXPECT_TRUE(thread_environment_warnings().empty()) << text;
  }
}

TEST_F(Environment, OtherValuesWarnAsPyTorchDoes) {
  for (const char* text : {"0", "-1", "abc", "3x", "", "1.5", "99999999999"}) {
    setenv("OMP_NUM_THREADS", text, 1);
    EXPECT_EQ(thread_count_from_environment(), 0) << text;
    EXPECT_EQ(thread_environment_warnings(),
              (std::vector<std::string>{
                  std::string("Invalid OMP_NUM_THREADS variable value, '") +
                  text + "' is not a positive integer"}));
  }
}

}  // namespace
}  // namespace hotaru
