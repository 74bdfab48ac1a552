// Memory that a stream gave back and another one is the first to use again.
#include <gtest/gtest.h>

#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operators.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

TEST(FreshMemory, IsFirstUsedBehindItsFormerUsers) {
  const Device device{DeviceType::kCUDA, 0};
  const Stream first = accelerator().make_stream(0, 0);
  const Stream second = accelerator().make_stream(0, 0);
  constexpr int64_t kElements = 1000;
  for (int round = 0; round < 200; ++round) {
    Tensor doubled, again;
    {
      const StreamGuard guard(first);
      const Tensor x =
          full(Dims{kElements}, Scalar(3), {DType::kFloat32, device});
      doubled = mul(x, 2);
    }
    {
      const StreamGuard guard(first);
      again = empty(Dims{kElements}, {DType::kFloat32, device});  // where x lay
    }
    {
      const StreamGuard guard(second);
      fill_(again, 7);
    }
    for (const auto& [t, value] : {std::pair{doubled, 6.0f}, {again, 7.0f}}) {
      const Tensor host = to(t, Device{});
      for (int64_t i = 0; i < kElements; ++i)
        ASSERT_EQ(host_data<float>(host, "test")[i], value)
            << "round " << round << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace hotaru
