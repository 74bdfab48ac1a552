// ONNX models and load_program from C++.
#include <gtest/gtest.h>

#include "hotaru/autograd/node.h"
#include "hotaru/core/error.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/onnx/load_onnx.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru {
namespace {

const std::string kModels = HOTARU_GOLDEN "/onnx/";

TEST(Onnx, RunsAndHasParameters) {
  const script::Module model = exchange::load_onnx(kModels + "perceptron.onnx");
  ASSERT_EQ(model.named_parameters().size(), 2u);
  EXPECT_EQ(model.named_parameters()[0].first, "layer.0.weight");
  const Tensor y = model({ones(Dims{5, 3})}).as_tensor();
  EXPECT_EQ(y.size(0), 5);
  EXPECT_TRUE(autograd::requires_grad(y));
}

TEST(Onnx, LoadLooksAtBytes) {
  const script::Module model = load(kModels + "shapes.onnx");
  const Tensor y = model({ones(Dims{5, 2, 3})}).as_tensor();
  EXPECT_EQ(y.dim(), 2);
  EXPECT_EQ(y.size(1), 6);
  EXPECT_EQ(exchange::format_of(io::MappedFile::open(kModels + "loop.onnx")),
            exchange::Format::kOnnx);
}

TEST(Onnx, RefusesOtherFiles) {
  EXPECT_THROW(exchange::load_onnx({}, "empty.onnx"), Error);
  EXPECT_THROW(exchange::load_program({}, "empty"), Error);
}

}  // namespace
}  // namespace hotaru
