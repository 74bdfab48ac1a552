#include "hotaru/io/npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hotaru/core/error.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::io {
namespace {

/// A file of its own for each test, gone afterwards.
class NpyTest : public testing::Test {
 protected:
  NpyTest()
      : path_(testing::TempDir() + "hotaru_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() +
              ".npy") {}
  ~NpyTest() override { std::filesystem::remove(path_); }

  /// Writes a file with this header (padded by nothing) and data.
  void write(const std::string& header, const std::string& data,
             char version = 1) {
    std::ofstream out(path_, std::ios::binary);
    out << "\x93NUMPY" << version << '\0';
    const uint32_t length = uint32_t(header.size());
    out.write(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
    out << header << data;
  }

  std::string error() {
    try {
      read_npy(path_);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const std::string path_;
};

template <class T>
Tensor iota(IntSpan sizes) {
  Tensor tensor = allocate(sizes, kDTypeOf<T>, Device{});
  for (int64_t i = 0; i < tensor.numel(); ++i) tensor.data<T>()[i] = T(i + 1);
  return tensor;
}

TEST_F(NpyTest, GivesBackWhatWasWritten) {
  for (const Dims& sizes : {Dims{}, Dims{3}, Dims{2, 3, 4}, Dims{2, 0}}) {
    write_npy(path_, iota<float>(sizes));
    Tensor read = read_npy(path_);
    EXPECT_EQ(read.dtype(), DType::kFloat32);
    ASSERT_TRUE(same(read.sizes(), sizes));
    for (int64_t i = 0; i < read.numel(); ++i)
      EXPECT_EQ(read.data<float>()[i], float(i + 1));
    // NumPy maps files; its array must be aligned.
    EXPECT_EQ(
        (std::filesystem::file_size(path_) - size_t(read.numel()) * 4) % 64,
        0u);
  }
  write_npy(path_, iota<int64_t>(Dims{5}));
  EXPECT_EQ(read_npy(path_).data<int64_t>()[4], 5);
}

TEST_F(NpyTest, FortranOrderBecomesStrides) {
  write("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "adbecf");
  Tensor read = read_npy(path_);
  EXPECT_TRUE(same(read.strides(), Dims{1, 2}));
  EXPECT_EQ(read.data<char>()[0 * 1 + 2 * 2], 'c');
}

TEST_F(NpyTest, HeadersOfAllVersionsAndLayouts) {
  for (char version : {1, 2, 3}) {
    write("{\"shape\": (2,), \"descr\": \"|i1\", \"fortran_order\": False, }\n",
          "\x05\xff", version);
    Tensor read = read_npy(path_);
    ASSERT_TRUE(same(read.sizes(), Dims{2}));
    EXPECT_EQ(read.data<int8_t>()[1], -1);
  }
}

TEST_F(NpyTest, BFloat16IsATypeError) {
  EXPECT_THROW(write_npy(path_, iota<BFloat16>(Dims{1})), TypeError);
}

TEST_F(NpyTest, ErrorsNameFileOffsetAndCause) {
  EXPECT_NE(error().find("can't be read: No such file"), std::string::npos);
  std::ofstream(path_) << "RIFF and so on";
  EXPECT_NE(error().find("does not begin with"), std::string::npos);

  const struct {
    std::string header, data, expected;
  } cases[] = {
      {"{'descr': '>U1', 'fortran_order': False, 'shape': (1,)}", "abcd",
       "arrays of '>U1' can't be read"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "abcdefgh",
       "arrays of '|O' can't be read"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "abcd",
       "needs 8 bytes, the file has 4"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "",
       "expected a size"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, "
       "4294967296)}",
       "", "more elements than memory has addresses"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, "
       "9223372036854775807, 4)}",
       "", "more elements than memory has addresses"},
      {"{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", "abcd",
       "expected True or False"},
      {"{'descr': '<f4', 'shape': (1,)}", "abcd", "are needed"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "abcd",
       "text after the dictionary"},
      {"{'data': '<f4'}", "", "the key 'data'"},
      {"{'descr': '<f4", "", "expected a quoted string"},
      {"", "", "expected '{'"},
  };
  for (const auto& c : cases) {
    write(c.header, c.data);
    EXPECT_NE(error().find(c.expected), std::string::npos) << error();
    EXPECT_EQ(error().find(path_), 0u) << error();
  }
}

TEST_F(NpyTest, EveryTruncationIsAnError) {
  write_npy(path_, iota<float>(Dims{4}));
  const auto size = std::filesystem::file_size(path_);
  for (size_t left = 0; left < size; ++left) {
    std::filesystem::resize_file(path_, left);
    EXPECT_NE(error(), "no error") << left;
    write_npy(path_, iota<float>(Dims{4}));
  }
}

}  // namespace
}  // namespace hotaru::io
