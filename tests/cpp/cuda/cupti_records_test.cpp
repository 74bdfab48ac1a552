// Readings of CUPTI's records that the GPU in software never writes.
#include "hotaru/backend/cuda/cupti/cupti_records.h"

#include <gtest/gtest.h>

namespace hotaru::cuda {
namespace {

using namespace cupti;

template <class R>
bool read(const R& record, DeviceWork& work) {
  return RecordReader().read(reinterpret_cast<const Record&>(record), work);
}

TEST(CuptiRecords, KernelsOfGraphsKeepTheirNodes) {
  KernelRecord r{};
  r.kind = kKernel;
  r.name = "_ZN4some6kernelILi3EEEvPfi";
  r.start = 1000;
  r.end = 1250;
  r.device = 2;
  r.stream = 13;
  r.correlation = 77;
  r.graph = 5;
  r.graph_node = uint64_t{6} << 40;
  r.grid[0] = 7, r.grid[1] = 8, r.grid[2] = 9;
  r.block[0] = 32, r.block[1] = 2, r.block[2] = 1;
  r.registers = 40;
  r.static_shared = 100;
  r.dynamic_shared = 28;
  DeviceWork work;
  ASSERT_TRUE(read(r, work));
  EXPECT_EQ(work.kind, WorkKind::kKernel);
  EXPECT_EQ(work.name, "void some::kernel<3>(float*, int)");
  EXPECT_EQ(work.start, 1000);
  EXPECT_EQ(work.duration, 250);
  EXPECT_EQ(work.device, 2);
  EXPECT_EQ(work.lane, 13);
  EXPECT_EQ(work.correlation, 77u);
  EXPECT_EQ(work.graph, 5u);
  EXPECT_EQ(work.graph_node, uint64_t{6} << 40);
  EXPECT_EQ(work.grid, (std::array<int32_t, 3>{7, 8, 9}));
  EXPECT_EQ(work.block, (std::array<int32_t, 3>{32, 2, 1}));
  EXPECT_EQ(work.registers, 40);
  EXPECT_EQ(work.shared_memory, 128);
}

TEST(CuptiRecords, TimesThatAreNotKnownAreNone) {
  KernelRecord r{};
  r.kind = kKernel;
  r.name = "k";
  DeviceWork work;
  ASSERT_TRUE(read(r, work));
  EXPECT_LT(work.duration, 0);
  r.start = 10;  // its end is not known
  ASSERT_TRUE(read(r, work));
  EXPECT_LT(work.duration, 0);
}

TEST(CuptiRecords, NamesThatAreNotKnownAreSaidToBe) {
  CopyRecord r{};
  r.kind = kCopy;
  r.way = 99;
  r.from = 5;
  r.to = 200;
  DeviceWork work;
  ASSERT_TRUE(read(r, work));
  EXPECT_EQ(work.name, "Memcpy Unknown (Managed -> Unknown)");
  KernelRecord nameless{};
  nameless.kind = kKernel;
  ASSERT_TRUE(read(nameless, work));
  EXPECT_EQ(work.name, "");
}

TEST(CuptiRecords, OthersAreLeftAlone) {
  for (const int kind : {0, int(kDriver), int(kRuntime), int(kExternal), 55}) {
    DeviceWork work;
    EXPECT_FALSE(read(Record{kind}, work)) << kind;
  }
}

}  // namespace
}  // namespace hotaru::cuda
