// Autocast for calls by name from C++, in threads that come and go.
#include "hotaru/ops/autocast.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "hotaru/autograd/node.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

Tensor call(const char* name, const Tensor& a, const Tensor& b) {
  Value arguments[] = {a, b}, result;
  Registry::instance().find(name, "")->call(arguments, &result);
  return result.as_tensor();
}

Tensor ones() {
  return full(Dims{2, 2}, Scalar(1), {DType::kFloat32, Device{}});
}

/// Autocast on the CPU for a scope, with its casts.
class Scope {
 public:
  explicit Scope(DType dtype) : saved_(autocast::state()) {
    autocast::set_enabled(DeviceType::kCPU, true);
    autocast::set_dtype(DeviceType::kCPU, dtype);
  }
  ~Scope() {
    autocast::set_state(saved_);
    autocast::clear_cache();
  }

 private:
  autocast::State saved_;
};

// First of its file: what is called meanwhile has yet to get its wrappers.
TEST(Autocast, ThreadsCallWhileItIsFirstTurnedOn) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      const Tensor x = ones();
      for (int n = 0; n < 200; ++n) {
        if (i % 2 == 0) {
          EXPECT_EQ(call("mm", x, x).dtype(), DType::kFloat32);
          continue;
        }
        const Scope scope(i == 1 ? DType::kFloat16 : DType::kBFloat16);
        EXPECT_EQ(call("mm", x, x).dtype(),
                  i == 1 ? DType::kFloat16 : DType::kBFloat16);
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(Autocast, IsForCallsByName) {
  const Tensor x = ones();
  const Scope scope(DType::kBFloat16);
  EXPECT_EQ(call("mm", x, x).dtype(), DType::kBFloat16);
  // A C++ function is what its caller makes of it.
  EXPECT_EQ(mm(x, x).dtype(), DType::kFloat32);
  EXPECT_EQ(mm(autocast::lowered(x), autocast::lowered(x)).dtype(),
            DType::kBFloat16);
  EXPECT_EQ(call("mv", x, full(Dims{2}, Scalar(1), TensorOptions(x))).dtype(),
            DType::kFloat32);
  const autocast::Off off;
  EXPECT_EQ(call("mm", x, x).dtype(), DType::kFloat32);
  EXPECT_EQ(autocast::key(), 0);
}

TEST(Autocast, ErrorsLeaveItOn) {
  const Tensor x = ones();
  const Scope scope(DType::kBFloat16);
  EXPECT_THROW(call("mm", x, full(Dims{3, 3}, Scalar(1), TensorOptions(x))),
               Error);
  EXPECT_EQ(call("mm", x, x).dtype(), DType::kBFloat16);
}

TEST(Autocast, KeepsCastsOfLeavesThatRequireGrad) {
  Tensor w = ones();
  autograd::set_requires_grad(w, true);
  const Scope scope(DType::kFloat16);
  const Tensor once = autocast::lowered(w);
  EXPECT_TRUE(once.is_same(autocast::lowered(w)));
  EXPECT_TRUE(autograd::requires_grad(once));
  autocast::set_cache_enabled(false);
  EXPECT_FALSE(once.is_same(autocast::lowered(w)));
  autocast::set_cache_enabled(true);
  autocast::clear_cache();
  EXPECT_FALSE(once.is_same(autocast::lowered(w)));
  const Tensor plain = ones();
  EXPECT_FALSE(autocast::lowered(plain).is_same(autocast::lowered(plain)));
}

TEST(Autocast, StateTellsDevicesAndDtypesApart) {
  EXPECT_EQ(autocast::key(), 0);
  EXPECT_FALSE(autocast::active());
  int64_t first = 0;
  {
    const Scope scope(DType::kBFloat16);
    first = autocast::key();
    EXPECT_NE(first, 0);
    autocast::set_dtype(DeviceType::kCPU, DType::kFloat16);
    EXPECT_NE(autocast::key(), first);
    // The dtype of a device that is off is nobody's business.
    autocast::set_dtype(DeviceType::kCPU, DType::kBFloat16);
    autocast::set_dtype(DeviceType::kCUDA, DType::kBFloat16);
    EXPECT_EQ(autocast::key(), first);
  }
  EXPECT_THROW(autocast::set_enabled(DeviceType::kMeta, true), Error);
  EXPECT_THROW(autocast::of(DeviceType::kMeta), Error);
}

}  // namespace
}  // namespace hotaru
