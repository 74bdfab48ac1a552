// Finding ONNX Runtime's library, and what is said of one that is not there or
// not what it should be. In children: a process opens a library once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "hotaru/core/error.h"
#include "hotaru/provider/compile_onnx.h"
#include "tests/cpp/child.h"

namespace hotaru::provider {
namespace {

/// True if a child that looks for the library gets an error with that text.
testing::AssertionResult refused(const std::string& library,
                                 const std::string& wrong,
                                 const std::string& text) {
  constexpr int kOther = 3, kFound = 4;
  const int status = status_of_child([&] {
    setenv("HOTARU_ONNXRUNTIME", library.c_str(), 1);
    setenv("HOTARU_STAND_IN", wrong.c_str(), 1);
    if (library.empty()) unsetenv("HOTARU_ONNXRUNTIME");
    // Twice: a refusal is no state that it stays in.
    for (int i = 0; i < 2; ++i) {
      try {
        onnx_runtime();
        _exit(kFound);
      } catch (const Error& error) {
        if (std::string(error.what()).find(text) == std::string::npos) {
          std::ofstream("/dev/stderr") << error.what() << '\n';
          _exit(kOther);
        }
      }
    }
  });
  if (status == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "status " << status;
}

TEST(OrtLibrary, NoLibrary) {
  EXPECT_TRUE(refused("/nowhere/libonnxruntime.so", "",
                      "HOTARU_ONNXRUNTIME names /nowhere/libonnxruntime.so, "
                      "which is no library that can be loaded"));
  EXPECT_TRUE(refused(HOTARU_GOLDEN "/onnx/loop.onnx", "",
                      "no library that can be loaded"));
  EXPECT_TRUE(refused("libz.so.1", "", "it has no symbol OrtGetApiBase"));
}

TEST(OrtLibrary, AnotherLibraryOfThatName) {
  const std::string path = HOTARU_STAND_IN_RUNTIME;
  EXPECT_TRUE(refused(path, "base", "does not say its version"));
  EXPECT_TRUE(refused(path, "version", "does not say its version"));
  EXPECT_TRUE(refused(path, "old", "ONNX Runtime 1.9.0 is too old"));
  EXPECT_TRUE(refused(path, "major", "ONNX Runtime 2.0.0 is too old or unk"));
  EXPECT_TRUE(refused(path, "api", "has no API of version 16"));
  EXPECT_TRUE(refused(path, "entry",
                      "entry 216 (SessionOptionsAppendExecutionProvider)"));
  EXPECT_TRUE(refused(path, "", "does not answer as its API says"));
}

}  // namespace
}  // namespace hotaru::provider
