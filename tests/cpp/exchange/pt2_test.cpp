// Exported programs as modules of C++. What they compute is compared with
// PyTorch's results by the tests of Python.
#include <gtest/gtest.h>

#include <string>

#include "hotaru/autograd/node.h"
#include "hotaru/core/error.h"
#include "hotaru/exchange/pt2/load_pt2.h"
#include "hotaru/hotaru.h"

namespace hotaru::exchange {
namespace {

script::Module golden(const std::string& name) {
  return load_pt2(concat(HOTARU_GOLDEN, "/pt2/", name, ".pt2"));
}

std::string message_of(const script::Module& module, const Tensor& x) {
  try {
    module({x});
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Pt2, TakesLeavesWhereTorchScriptHasNoTypeForAContainer) {
  // A dict of a tensor and a list, a pair, and a list by name.
  const script::Module module = golden("trees");
  EXPECT_EQ(module.named_parameters().size(), 2u);
  const Tensor x = ones(Dims{2, 4});
  const Value result = module({x, x, x, x, x, ones(Dims{4})});
  ASSERT_TRUE(result.is_tuple());
  EXPECT_EQ(result.as_tuple().items.size(), 6u);
}

TEST(Pt2, ParametersRequireGradientsAsTheyDid) {
  const script::Module module = golden("shared");
  for (const auto& [name, tensor] : module.named_parameters())
    EXPECT_EQ(autograd::requires_grad(tensor), name != "a.bias") << name;
}

TEST(Pt2, WeightsLieInTheFile) {
  const script::Module a = golden("cond"), b = golden("cond");
  const auto first = a.named_parameters(), second = b.named_parameters();
  ASSERT_EQ(first.size(), second.size());
  // Writing to one changes neither the file nor the other.
  autograd::NoGrad no_grad;
  fill_(first[0].second, Scalar(7));
  EXPECT_NE(first[0].second.data<float>()[0],
            second[0].second.data<float>()[0]);
  EXPECT_NE(golden("cond").named_parameters()[0].second.data<float>()[0], 7);
}

TEST(Pt2, InputsOfOtherSizesAreNamed) {
  const script::Module module = golden("cond");
  EXPECT_NE(message_of(module, ones(Dims{2, 5}))
                .find("Expected input at x.shape[1] to be equal to 4, but got "
                      "5"),
            std::string::npos);
  EXPECT_NE(
      message_of(module, ones(Dims{4})).find("Unexpected number of dimen"),
      std::string::npos);
  EXPECT_EQ(message_of(module, ones(Dims{64, 4})), "no error");
}

}  // namespace
}  // namespace hotaru::exchange
