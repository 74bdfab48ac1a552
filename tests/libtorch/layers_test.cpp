// Modules, functions and optimizers: golden/layers.txt is what this very
// program's cases gave with libtorch (PyTorch 2.13). Words must be equal,
// numbers nearly: sums of up to some thousand floats of about 1.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "layer_cases.h"

namespace {

bool near(const std::string& a, const std::string& b) {
  char *end_a = nullptr, *end_b = nullptr;
  const double x = std::strtod(a.c_str(), &end_a);
  const double y = std::strtod(b.c_str(), &end_b);
  if (*end_a || *end_b || a.empty() || b.empty()) return false;
  return std::abs(x - y) <= 2e-4 + 2e-4 * std::abs(y);
}

TEST(Layers, ComputeAndPrintAsLibtorch) {
  std::ostringstream mine;
  layer_cases::out = &mine;
  layer_cases::all();
  layer_cases::out = &std::cout;
  std::ifstream golden(HOTARU_GOLDEN "/layers.txt");
  ASSERT_TRUE(golden);
  std::istringstream given(mine.str());
  std::string wanted_line, line;
  int cases = 0;
  while (std::getline(golden, wanted_line)) {
    ASSERT_TRUE(std::getline(given, line)) << "ends before " << wanted_line;
    std::istringstream wanted_words(wanted_line), words(line);
    std::string wanted, word;
    while (wanted_words >> wanted) {
      ASSERT_TRUE(words >> word) << line << " | " << wanted_line;
      EXPECT_TRUE(word == wanted || near(word, wanted))
          << line << " | " << wanted_line;
    }
    ++cases;
  }
  EXPECT_FALSE(std::getline(given, line)) << "goes on with " << line;
  EXPECT_GT(cases, 150);
}

}  // namespace
