// Whoever plans a copy decides by its geometry.
#include <gtest/gtest.h>

#include <cstdlib>

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru {
namespace {

struct NoMemory final : Allocator {
  void* allocate(size_t) override {
    ADD_FAILURE() << "asked for an address";
    return std::malloc(1);
  }
  void deallocate(void* data, size_t, PendingUses*) noexcept override {
    std::free(data);
  }
};

TEST(CopyPlan, AsksForNoAddress) {
  NoMemory allocator;
  const auto deferred = [&](IntSpan strides) {
    constexpr size_t kBytes = 1 << 20;
    return make_tensor(make_ref<Storage>(allocator, kBytes, Device{}, true),
                       DType::kFloat32, Dims{4, 49, 12, 32}, strides, 0);
  };
  const ElementwiseFunction plan = elementwise_function(kernel("copy_"));
  ASSERT_NE(plan, nullptr);
  const auto planned = [&](IntSpan out, IntSpan x) {
    const Tensor to = deferred(out), from = deferred(x);
    const Operand operands[] = {write(to), read(from)};
    return plan(KernelCall(kernel("copy_"), operands)).has_value();
  };
  const Dims plain = {18816, 384, 32, 1};
  // Elements of one order, of lines that move as one, and of columns.
  EXPECT_TRUE(planned(plain, plain));
  EXPECT_FALSE(planned(plain, Dims{18816, 32, 1568, 1}));
  EXPECT_FALSE(planned(plain, Dims{18816, 12, 1, 588}));
}

}  // namespace
}  // namespace hotaru
