// Texts of tensors and small types, as libtorch prints them: golden/print.txt
// is what this very program's cases gave there (PyTorch 2.13).
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "print_cases.h"

namespace {

TEST(Print, EqualsLibtorchToTheCharacter) {
  std::ifstream in(HOTARU_GOLDEN "/print.txt");
  const std::string golden{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(golden.empty());
  std::ostringstream out;
  print_cases(out);
  EXPECT_EQ(out.str(), golden);
}

}  // namespace
