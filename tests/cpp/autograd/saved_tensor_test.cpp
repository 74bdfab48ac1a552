#include "hotaru/autograd/saved_tensor.h"

#include <gtest/gtest.h>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/core/inference/inference.h"
#include "hotaru/engine/engine.h"
#include "hotaru/engine/pass.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"

namespace hotaru {
namespace {

using autograd::SavedHooks;

int packed = 0, unpacked = 0;

/// Keeps a copy.
class Copies final : public SavedHooks {
 public:
  void pack(const Tensor& tensor) override {
    ++packed;
    EXPECT_FALSE(autograd::grad_enabled());
    copy_ = clone(tensor);
  }
  Tensor unpack() override {
    ++unpacked;
    return copy_;
  }

 private:
  Tensor copy_;
};

std::unique_ptr<SavedHooks> make_copies() {
  return std::make_unique<Copies>();
}

Tensor leaf(double value) {
  const Tensor t = full(Dims{1}, value, {DType::kFloat64});
  autograd::set_requires_grad(t, true);
  return t;
}

double first(const Tensor& t) {
  return item(t).to<double>();
}

struct HooksScope {
  HooksScope() { autograd::set_saved_hooks_maker(&make_copies); }
  ~HooksScope() { autograd::set_saved_hooks_maker(nullptr); }
};

TEST(SavedTensor, HooksKeepValuesAndHistory) {
  const Tensor a = leaf(3);
  Tensor out;
  {
    const HooksScope hooks;
    packed = unpacked = 0;
    out = mul(mul(a, a), a);
  }
  EXPECT_EQ(packed, 4);
  autograd::BackwardOptions twice;
  twice.create_graph = twice.retain_graph = true;
  const Tensor grad = autograd::grad({out}, {a}, {}, twice)[0];
  EXPECT_EQ(first(grad), 27);
  EXPECT_EQ(unpacked, 4);
  EXPECT_EQ(first(autograd::grad({grad}, {a}, {})[0]), 18);
}

TEST(SavedTensor, PackedTensorsMayBeWrittenOver) {
  const Tensor a = leaf(3);
  Tensor inner = mul(a, a);
  Tensor out;
  {
    const HooksScope hooks;
    out = mul(inner, inner);
  }
  {
    const autograd::NoGrad no_grad;
    fill_(inner, 0);
  }
  autograd::backward({out}, {});
  EXPECT_EQ(first(autograd::meta(a)->grad), 108);
}

TEST(SavedTensor, PassesKnowEachOther) {
  const Tensor a = leaf(2);
  const Tensor out = mul(a, a);
  int64_t inner = -1, outer = -1;
  int callbacks = 0;
  autograd::register_hook(out, [&](const Tensor&) -> Tensor {
    outer = autograd::Pass::current()->id();
    const autograd::GradMode on(true);
    const Tensor b = leaf(1);
    autograd::register_hook(b, [&](const Tensor&) -> Tensor {
      inner = autograd::Pass::current()->id();
      autograd::Pass::current()->add_callback([&] { ++callbacks; });
      return {};
    });
    autograd::backward({mul(b, b)}, {});
    EXPECT_EQ(callbacks, 1);
    EXPECT_EQ(autograd::Pass::current()->id(), outer);
    return {};
  });
  autograd::backward({out}, {});
  EXPECT_GT(inner, outer);
  EXPECT_EQ(autograd::Pass::current(), nullptr);
}

TEST(Inference, TensorsAreKnownByTheirMemory) {
  const Tensor normal = ones(Dims{2});
  set_inference_mode(true);
  const Tensor made = ones(Dims{2});
  set_inference_mode(false);
  EXPECT_FALSE(is_inference(normal));
  EXPECT_TRUE(is_inference(made));
  EXPECT_FALSE(is_inference(clone(made)));
  EXPECT_THROW(fill_(made, 1.0), Error);
}

}  // namespace
}  // namespace hotaru
