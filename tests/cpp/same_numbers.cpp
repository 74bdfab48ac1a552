// Numbers that tests draw without a seed are the same in each run, so that one
// whose tolerance numbers seldom pass fails always or never.
#include <gtest/gtest.h>

#include "hotaru/runtime/generator.h"

namespace hotaru {
namespace {

class SameNumbers : public testing::Environment {
  void SetUp() override { default_generator().manual_seed(67280421310721); }
};

[[maybe_unused]] const testing::Environment* added =
    testing::AddGlobalTestEnvironment(new SameNumbers);

}  // namespace
}  // namespace hotaru
