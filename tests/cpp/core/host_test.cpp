// Host code's way to a tensor's bytes.
#include "hotaru/core/host.h"

#include <gtest/gtest.h>

#include "hotaru/core/error.h"

namespace hotaru {
namespace {

Tensor tensor_on(Device device) {
  static float elements[2] = {1, 2};
  const auto storage =
      make_ref<Storage>(elements, sizeof(elements), device, Ref<RefCounted>());
  return make_tensor(storage, DType::kFloat32, Dims{1}, Dims{1}, 1);
}

TEST(Host, FindsTheFirstElement) {
  EXPECT_EQ(*host_data<float>(tensor_on(Device{}), "test"), 2);
}

TEST(Host, RefusesMemoryOfAnotherDevice) {
  const Tensor t = tensor_on(Device{DeviceType::kCUDA, 0});
  try {
    host_bytes(t, "tolist");
    FAIL() << "read another device's memory";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "tolist: the host cannot reach memory of cuda:0; copy the "
                 "tensor with .cpu() first");
  }
}

TEST(Host, ViewsOfEmptyStoragesHaveAnAddress) {
  const auto storage =
      make_ref<Storage>(nullptr, 0, Device{}, Ref<RefCounted>());
  const Tensor t = make_tensor(storage, DType::kFloat32, Dims{0}, Dims{1}, 3);
  EXPECT_EQ(t.address(), reinterpret_cast<void*>(12));
}

}  // namespace
}  // namespace hotaru
