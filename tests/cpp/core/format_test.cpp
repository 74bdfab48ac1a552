// The expected texts are repr() of torch 2.13.0 for the same values.
#include "hotaru/core/printing/format.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <thread>

#include "hotaru/core/error.h"
#include "hotaru/core/tensor.h"

namespace hotaru {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Keeps the memory of a test's tensor.
template <class T>
struct Values : RefCounted {
  explicit Values(const std::vector<T>& values)
      : data(new T[values.size() + 1]) {
    std::copy(values.begin(), values.end(), data.get());
  }
  std::unique_ptr<T[]> data;
};

/// A contiguous tensor of these values.
template <class T>
Tensor tensor(IntSpan sizes, const std::vector<T>& values, Device device = {}) {
  auto owner = make_ref<Values<T>>(values);
  void* data = owner->data.get();
  auto storage = make_ref<Storage>(data, values.size() * sizeof(T), device,
                                   Ref<RefCounted>(owner));
  return make_tensor(storage, kDTypeOf<T>, sizes, contiguous_strides(sizes), 0);
}

template <class T>
Tensor vector(const std::vector<T>& values) {
  return tensor<T>(Dims{int64_t(values.size())}, values);
}

template <class T>
Tensor arange(const Dims& sizes, T step = 1) {
  std::vector<T> values(size_t(numel_of(sizes)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = T(i) * step;
  return tensor<T>(sizes, values);
}

Tensor transposed(const Tensor& self) {
  return make_view(self, Dims{self.size(1), self.size(0)},
                   Dims{self.stride(1), self.stride(0)}, self.storage_offset());
}

std::string text(const Tensor& self, const PrintOptions& options = {},
                 std::string_view suffix = {},
                 std::string_view prefix = "tensor(") {
  return format_tensor(self, shown_elements(self, options), options,
                       suffix.empty() ? std::vector<std::string>()
                                      : std::vector{std::string(suffix)},
                       prefix);
}

TEST(Format, Integers) {
  EXPECT_EQ(text(vector<int64_t>({1, -2, 300})), "tensor([  1,  -2, 300])");
  EXPECT_EQ(text(vector<int32_t>({1})), "tensor([1], dtype=torch.int32)");
  EXPECT_EQ(text(vector<uint8_t>({0, 255})),
            "tensor([  0, 255], dtype=torch.uint8)");
  EXPECT_EQ(text(vector<int64_t>({INT64_MIN, INT64_MAX})),
            "tensor([-9223372036854775808,  9223372036854775807])");
}

TEST(Format, Booleans) {
  EXPECT_EQ(text(tensor<Bool>(Dims{1, 2}, {true, false})),
            "tensor([[ True, False]])");
}

TEST(Format, IntegralFloatsKeepThePoint) {
  EXPECT_EQ(text(vector<float>({1, -2, 10})), "tensor([ 1., -2., 10.])");
  EXPECT_EQ(text(vector<float>({-0.0f, 0})), "tensor([-0., 0.])");
  EXPECT_EQ(text(vector<float>({1e8f})), "tensor([100000000.])");
}

TEST(Format, FractionsHaveFourDecimals) {
  EXPECT_EQ(text(vector<float>({0.5f, -12.25f, 100})),
            "tensor([  0.5000, -12.2500, 100.0000])");
  EXPECT_EQ(text(vector<double>({1.0 / 3})),
            "tensor([0.3333], dtype=torch.float64)");
}

TEST(Format, NonFiniteValuesHaveNoSayInTheWidth) {
  EXPECT_EQ(text(vector<float>({kNan, kInf, -kInf, 1.5f})),
            "tensor([   nan,    inf,   -inf, 1.5000])");
  EXPECT_EQ(text(vector<float>({kNan, -kInf, 1000})),
            "tensor([  nan,  -inf, 1000.])");
  EXPECT_EQ(text(vector<float>({-kNan, 0, kInf})), "tensor([nan, 0., inf])");
}

TEST(Format, ScientificBeyondThreeDecades) {
  EXPECT_EQ(text(vector<float>({1, 1000})), "tensor([   1., 1000.])");
  EXPECT_EQ(text(vector<float>({1, 1001})), "tensor([1.0000e+00, 1.0010e+03])");
}

TEST(Format, ScientificForLargeAndSmallValues) {
  EXPECT_EQ(text(vector<float>({1.00000008e8f})), "tensor([1.0000e+08])");
  EXPECT_EQ(text(vector<double>({1e-4})),
            "tensor([0.0001], dtype=torch.float64)");
  EXPECT_EQ(text(vector<float>({9.9e-5f})), "tensor([9.9000e-05])");
  EXPECT_EQ(text(vector<double>({1e300, double(kNan), -1})),
            "tensor([1.0000e+300,         nan, -1.0000e+00], "
            "dtype=torch.float64)");
}

TEST(Format, SixteenBitFloats) {
  EXPECT_EQ(text(vector<Half>({65504, 1})),
            "tensor([6.5504e+04, 1.0000e+00], dtype=torch.float16)");
  EXPECT_EQ(text(vector<BFloat16>({0.1f, 3})),
            "tensor([0.1001, 3.0000], dtype=torch.bfloat16)");
}

TEST(Format, ComplexPartsHaveNotationsOfTheirOwn) {
  using C = std::complex<float>;
  EXPECT_EQ(text(vector<C>({C(1, 2), C(-0.5f, -1)})),
            "tensor([ 1.0000+2.j, -0.5000-1.j])");
  EXPECT_EQ(text(vector<C>({C(1e-6f, kNan), C(1, -10)})),
            "tensor([1.0000e-06+nanj, 1.0000e+00-10.j])");
  EXPECT_EQ(text(tensor<std::complex<double>>(Dims{}, {1})),
            "tensor(1.+0.j, dtype=torch.complex128)");
}

TEST(Format, Scalars) {
  EXPECT_EQ(text(tensor<float>(Dims{}, {3.14159f})), "tensor(3.1416)");
  EXPECT_EQ(text(tensor<int64_t>(Dims{}, {7})), "tensor(7)");
  EXPECT_EQ(text(tensor<float>(Dims{}, {0})), "tensor(0.)");
}

TEST(Format, EmptyTensorsShowTheirSizeAndDtype) {
  EXPECT_EQ(text(vector<float>({})), "tensor([])");
  EXPECT_EQ(text(tensor<float>(Dims{0, 3}, {})), "tensor([], size=(0, 3))");
  EXPECT_EQ(text(vector<int64_t>({})), "tensor([], dtype=torch.int64)");
}

TEST(Format, NestedBracketsAndStrides) {
  EXPECT_EQ(text(arange<int64_t>({2, 3, 2})),
            "tensor([[[ 0,  1],\n         [ 2,  3],\n         [ 4,  5]],\n\n"
            "        [[ 6,  7],\n         [ 8,  9],\n         [10, 11]]])");
  EXPECT_EQ(text(transposed(arange<int64_t>({2, 3}))),
            "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])");
}

TEST(Format, LinesBreakAtTheWidth) {
  EXPECT_EQ(text(arange<int64_t>({20}, 1000)),
            "tensor([    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,"
            "  8000,  9000,\n        10000, 11000, 12000, 13000, 14000, 15000,"
            " 16000, 17000, 18000, 19000])");
  PrintOptions narrow;
  narrow.linewidth = 20;
  EXPECT_EQ(text(arange<int64_t>({10}), narrow),
            "tensor([0, 1, 2, 3,\n        4, 5, 6, 7,\n        8, 9])");
}

TEST(Format, LastColumnsAreUsed) {
  const auto at = [](int64_t linewidth) {
    PrintOptions options;
    options.linewidth = linewidth;
    return options;
  };
  EXPECT_EQ(text(arange<int64_t>({1, 6}), at(19)),
            "tensor([[0, 1, 2,\n         3, 4, 5]])");
  const auto ones = vector<std::complex<float>>({{1, 1}, {1, 1}, {1, 1}});
  EXPECT_EQ(text(ones, at(27)), "tensor([1.+1.j, 1.+1.j,\n        1.+1.j])");
  EXPECT_EQ(text(ones, at(28)), "tensor([1.+1.j, 1.+1.j, 1.+1.j])");
  const auto one = vector<int32_t>({1});
  EXPECT_EQ(text(one, at(31)), "tensor([1], dtype=torch.int32)");
  EXPECT_EQ(text(one, at(30)), "tensor([1],\n       dtype=torch.int32)");
  const auto wide = tensor<double>(Dims{1, 4}, {1, 1, 1, 1});
  EXPECT_EQ(text(wide, at(46), "requires_grad=True"),
            "tensor([[1., 1., 1., 1.]],\n"
            "       dtype=torch.float64, requires_grad=True)");
  EXPECT_EQ(text(wide, at(45), "requires_grad=True"),
            "tensor([[1., 1., 1., 1.]],\n"
            "       dtype=torch.float64,\n       requires_grad=True)");
  EXPECT_EQ(text(one, at(-1)), text(one, at(0)));
}

TEST(Format, SummariesKeepTheEdges) {
  EXPECT_EQ(text(arange<int64_t>({1000})).find("..."), std::string::npos);
  EXPECT_EQ(text(arange<int64_t>({2000})),
            "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
  PrintOptions options;
  options.threshold = 10;
  options.edgeitems = 1;
  EXPECT_EQ(text(arange<int64_t>({4, 4, 4}), options),
            "tensor([[[ 0,  ...,  3],\n         ...,\n"
            "         [12,  ..., 15]],\n\n        ...,\n\n"
            "        [[48,  ..., 51],\n         ...,\n"
            "         [60,  ..., 63]]])");
}

TEST(Format, SummariesOfStridedTensors) {
  PrintOptions options;
  options.threshold = 5;
  options.edgeitems = 1;
  EXPECT_EQ(text(transposed(arange<int64_t>({3, 5})), options),
            "tensor([[ 0,  ..., 10],\n        ...,\n"
            "        [ 4,  ..., 14]])");
}

TEST(Format, NoEdgesAtAll) {
  PrintOptions options;
  options.edgeitems = 0;
  EXPECT_EQ(text(arange<float>({4}), options),
            "tensor([0., 1., 2., 3.], size=(4,))");
  options.threshold = 2;
  EXPECT_EQ(text(arange<float>({4}), options), "tensor([...], size=(4,))");
}

TEST(Format, SummariesReadNothingElse) {
  const int64_t size = int64_t{1} << 40;
  const Tensor one = tensor<float>(Dims{1}, {1.5f});
  const Tensor huge = make_view(one, Dims{size, size >> 20}, Dims{0, 0}, 0);
  PrintOptions options;
  EXPECT_EQ(shown_elements(huge, options).numel(), 36);
  options.edgeitems = 1;
  EXPECT_EQ(text(huge, options),
            "tensor([[1.5000,  ..., 1.5000],\n        ...,\n"
            "        [1.5000,  ..., 1.5000]])");
}

TEST(Format, PrecisionAndForcedNotation) {
  PrintOptions options;
  options.precision = 2;
  EXPECT_EQ(text(vector<float>({1.23456f, 2}), options),
            "tensor([1.23, 2.00])");
  options.precision = 0;
  EXPECT_EQ(text(vector<float>({1.5f, 2.5f}), options), "tensor([2, 2])");
  options = {};
  options.sci_mode = true;
  EXPECT_EQ(text(vector<float>({1, 2}), options),
            "tensor([1.0000e+00, 2.0000e+00])");
  EXPECT_EQ(text(vector<float>({0, kNan}), options), "tensor([0., nan])");
  options.sci_mode = false;
  EXPECT_EQ(text(vector<float>({1e-7f, 1.5f}), options),
            "tensor([0.0000, 1.5000])");
}

TEST(Format, LongestNumberFits) {
  PrintOptions options;
  options.sci_mode = false;
  options.precision = PrintOptions::kMaxPrecision;
  const double lowest = std::numeric_limits<double>::lowest();
  EXPECT_EQ(text(tensor<double>(Dims{2}, {lowest, 0.5}), options).size(),
            2 * (1 + 309 + 1 + options.precision) +
                std::string_view("tensor([,\n        ],\n       "
                                 "dtype=torch.float64)")
                    .size());
}

TEST(Format, SuffixesWrap) {
  EXPECT_EQ(text(vector<double>({0.25, 0.25, 0.25, 1, 1, 1, 1}), {},
                 "requires_grad=True"),
            "tensor([0.2500, 0.2500, 0.2500, 1.0000, 1.0000, 1.0000, 1.0000],"
            "\n       dtype=torch.float64, requires_grad=True)");
  EXPECT_EQ(text(tensor<double>(Dims{2, 2}, {2, 2, 2, 2}), {},
                 "grad_fn=<AddBackward0>"),
            "tensor([[2., 2.],\n        [2., 2.]], dtype=torch.float64, "
            "grad_fn=<AddBackward0>)");
}

TEST(Format, PrefixIndentsByCodePoints) {
  EXPECT_EQ(text(arange<int64_t>({2, 1}), {}, {}, "Gr\u00f6\u00dfe("),
            "Gr\u00f6\u00dfe([[0],\n       [1]])");
}

TEST(Format, MetaTensorsHaveNoElements) {
  const Device meta{DeviceType::kMeta};
  const auto storage = make_ref<Storage>(nullptr, 0, meta, Ref<RefCounted>());
  const Dims sizes{2, 3}, strides{3, 1};
  const auto of = [&](DType dtype) {
    return Tensor(make_ref<TensorImpl>(storage, dtype, sizes, strides, 0));
  };
  EXPECT_EQ(format_tensor(of(DType::kFloat32)),
            "tensor(..., device='meta', size=(2, 3))");
  EXPECT_EQ(format_tensor(of(DType::kInt64)),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.int64)");
}

TEST(Format, OtherDevicesArePrintedFromACopy) {
  const std::vector<float> values{1, 2};
  const Tensor self = tensor<float>(Dims{2}, values, {DeviceType::kCUDA, 0});
  EXPECT_THROW(format_tensor(self), Error);
  EXPECT_EQ(format_tensor(self, vector<float>(values), {}),
            "tensor([1., 2.], device='cuda:0')");
  EXPECT_THROW(format_tensor(self, vector<float>({1}), {}), Error);
  EXPECT_THROW(format_tensor(self, vector<double>({1, 2}), {}), Error);
}

TEST(Format, DefaultDtypeIsNotShown) {
  const DType before = default_dtype();
  set_default_dtype(DType::kFloat64);
  EXPECT_EQ(text(vector<double>({1})), "tensor([1.])");
  EXPECT_EQ(text(vector<float>({1})), "tensor([1.], dtype=torch.float32)");
  EXPECT_EQ(text(vector<std::complex<double>>({{0, 1}})), "tensor([0.+1.j])");
  set_default_dtype(before);
}

TEST(Format, StorageTooSmallIsAnError) {
  const Tensor short_one = vector<float>({1, 2});
  const Tensor beyond = make_view(short_one, Dims{3}, Dims{1}, 0);
  EXPECT_THROW(format_tensor(beyond), Error);
  EXPECT_THROW(format_tensor(Tensor()), Error);
}

TEST(PrintOptionsTest, ProcessWideOptionsTakeEffect) {
  set_print_options(PrintOptions::profile("short"));
  EXPECT_EQ(format_tensor(vector<float>({0.125f})), "tensor([0.12])");
  EXPECT_EQ(format_tensor(arange<int64_t>({2000})),
            "tensor([   0,    1,  ..., 1998, 1999])");
  set_print_options(PrintOptions::profile("full"));
  EXPECT_EQ(format_tensor(arange<int64_t>({2000})).find("..."),
            std::string::npos);
  set_print_options(PrintOptions::profile("default"));
  EXPECT_EQ(print_options(), PrintOptions{});
}

TEST(PrintOptionsTest, WrongValuesAreRefusedAndChangeNothing) {
  PrintOptions options;
  options.precision = -1;
  EXPECT_THROW(set_print_options(options), ValueError);
  options.precision = PrintOptions::kMaxPrecision + 1;
  EXPECT_THROW(set_print_options(options), ValueError);
  options = {};
  options.edgeitems = -1;
  EXPECT_THROW(set_print_options(options), ValueError);
  EXPECT_THROW(PrintOptions::profile("long"), ValueError);
  EXPECT_EQ(print_options(), PrintOptions{});
}

TEST(PrintOptionsTest, ReadersSeeWholeOptions) {
  std::thread writer([] {
    for (int i = 0; i < 2000; ++i)
      set_print_options(PrintOptions::profile(i % 2 ? "default" : "short"));
  });
  for (int i = 0; i < 2000; ++i) {
    const PrintOptions seen = print_options();
    EXPECT_EQ(seen.precision == 2, seen.edgeitems == 2);
  }
  writer.join();
  set_print_options({});
}

}  // namespace
}  // namespace hotaru
