// The single door: a sink takes calls, nothing runs until they are run, and a
// call owns what it touches.
#include <gtest/gtest.h>

#include <vector>

#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

/// Keeps every call, to be run when the test says so.
class Recorder : public CallSink {
 public:
  void take(const KernelCall& call) override { calls_.emplace_back(call); }
  void record(Event&) override {}
  void wait(const Event&) override {}
  void synchronize() override {}
  bool query() const override { return calls_.empty(); }
  bool defers(size_t) const override { return false; }
  void divert(Ref<CallSink>) override {}
  void run() {
    for (const OwnedCall& owned : calls_) owned.call().run(DeviceType::kCPU);
  }
  size_t size() const { return calls_.size(); }

 private:
  std::vector<OwnedCall> calls_;
};

TEST(StreamDoor, SinkRunsNothingUntilToldSo) {
  const Tensor x = full(Dims{3}, 2.0, DType::kFloat32);
  const Tensor out = full(Dims{3}, -1.0, DType::kFloat32);
  const auto recorder = make_ref<Recorder>();
  {
    const StreamGuard guard(Stream(Device{}, recorder));
    copy_(out, x);
  }
  ASSERT_EQ(recorder->size(), 1u);
  EXPECT_EQ(out.data<float>()[0], -1.0f);
  recorder->run();
  EXPECT_EQ(out.data<float>()[2], 2.0f);
}

TEST(StreamDoor, CallsOwnOperandsWithTheGeometryTheyHad) {
  const auto recorder = make_ref<Recorder>();
  Tensor result;
  {
    Tensor x = arange(0, 6, 1, DType::kFloat32);
    Tensor y = full(Dims{6}, 10.0, DType::kFloat32);
    const StreamGuard guard(Stream(Device{}, recorder));
    result = mul(x, y);
    // Afterwards the operands change their shape and lose their handles.
    x.impl()->set_geometry(Dims{2}, Dims{1}, 4);
  }
  recorder->run();
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(result.data<float>()[i], 10.0f * float(i));
}

TEST(StreamDoor, GuardRestoresTheStreamBefore) {
  const auto recorder = make_ref<Recorder>();
  {
    const StreamGuard guard(Stream(Device{}, recorder));
    EXPECT_FALSE(current_stream(Device{}).immediate());
  }
  EXPECT_TRUE(current_stream(Device{}).immediate());
  const Tensor x = full(Dims{1}, 3.0, DType::kFloat32);
  EXPECT_EQ(recorder->size(), 0u);
  EXPECT_EQ(x.data<float>()[0], 3.0f);
}

}  // namespace
}  // namespace hotaru
