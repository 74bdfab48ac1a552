// That passes look for kernels that there are.
#include "hotaru/graph/passes/known_kernels.h"

#include <gtest/gtest.h>

#include <set>

#include "hotaru/core/device.h"

namespace hotaru::graph {
namespace {

TEST(KnownKernels, HaveCodeOnTheCPU) {
  ASSERT_GT(KnownKernel::all().size(), 30u);
  for (const Kernel* kernel : KnownKernel::all())
    EXPECT_TRUE(kernel->has(DeviceType::kCPU))
        << "no pass will ever find a call of \"" << kernel->name() << '"';
}

TEST(KnownKernels, AreNamedOnce) {
  std::set<const Kernel*> seen;
  for (const Kernel* kernel : KnownKernel::all())
    EXPECT_TRUE(seen.insert(kernel).second) << kernel->name();
}

TEST(KnownKernels, AreToldApartByReference) {
  const KernelCall call(known::kMul, {});
  EXPECT_TRUE(is(call, known::kMul));
  EXPECT_FALSE(is(call, known::kAdd));
  EXPECT_TRUE(is_any(call, known::kAdd, known::kMul));
}

}  // namespace
}  // namespace hotaru::graph
