// Texts that libtorch prints, case by case. To make golden/print.txt anew,
// compile with -DPRINT_CASES_MAIN as C++ against PyTorch's wheel and run it.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

inline void print_tensors(std::ostream& out) {
  const auto show = [&](const char* what, const at::Tensor& t) {
    out << "== " << what << "\n" << t << "\n";
  };
  show("undefined", at::Tensor());
  show("number", torch::tensor(3.5));
  show("a third", torch::tensor(1.0) / 3);
  show("integer", torch::tensor(3));
  show("bool", torch::tensor(true));
  show("large number", torch::tensor(1234567.891));
  show("vector", torch::tensor({1.0, 2.5, -3.25}));
  show("integers", torch::tensor({1, -20, 300}));
  show("bools", torch::tensor({true, false}));
  show("empty", torch::empty({0}));
  show("empty rows", torch::empty({0, 3}));
  show("empty matrices", torch::empty({2, 0, 3}));
  show("large integers", torch::tensor({10000000000.0, 1.0}));
  show("wide range", torch::tensor({1e-5, 1e5, 1.5}));
  show("very wide range",
       torch::tensor(std::vector<double>{1e-200, 1e5, 1.5}, torch::kDouble));
  show("scaled", torch::tensor({1234567.5, 1234568.25}));
  show("small", torch::tensor({0.00012, 0.00034}));
  show("not finite", torch::tensor({1.0, double(NAN), double(INFINITY),
                                    -double(INFINITY), 2.5}));
  show("nothing finite", torch::tensor({double(NAN), double(INFINITY)}));
  show("zeros", torch::zeros({2, 3}));
  const auto six = torch::arange(6).reshape({2, 3});
  show("matrix", six.to(torch::kFloat) / 4);
  show("matrix of integers", six * 1000);
  show("matrix, wide", six.to(torch::kFloat) * 1234567.5);
  show("matrix, scaled", (six.to(torch::kFloat) + 10) * 123456.75);
  const auto sixty = torch::arange(60).reshape({2, 30}).to(torch::kFloat);
  show("columns", sixty / 7);
  show("columns, wide", sixty * 123456.7);
  show("columns, scaled", (sixty + 100) * 1234.5);
  show("matrices", torch::arange(12).reshape({2, 2, 3}));
  show("matrices, fractions", torch::arange(12).reshape({2, 2, 3}) / 7.0);
  show("matrices, scaled",
       (torch::arange(12).reshape({2, 2, 3}) + 100) * 12345.25);
  show("four dimensions", torch::arange(16).reshape({2, 2, 2, 2}));
  show("half", torch::ones({2}, torch::kHalf));
  show("bfloat16", torch::ones({2}, torch::kBFloat16) / 3);
  show("gradient", torch::ones({2}, torch::requires_grad()));
  show("transposed", six.t());
  out << 0.1 << "\n";  // the stream's format is as before
}

inline void print_names(std::ostream& out) {
  out << torch::kFloat << " " << torch::ones(2).dtype() << " "
      << torch::Device("cuda:1") << " " << torch::kCUDA << " "
      << torch::kStrided << " " << torch::MemoryFormat::ChannelsLast << "\n";
  for (const auto type :
       {torch::kByte, torch::kChar, torch::kShort, torch::kInt, torch::kLong,
        torch::kHalf, torch::kFloat, torch::kDouble, torch::kComplexFloat,
        torch::kComplexDouble, torch::kBool, torch::kBFloat16, torch::kUInt16})
    out << type << " " << c10::scalarTypeToTypeMeta(type).name() << " "
        << torch::empty({0}, type).toString() << "\n";
  out << torch::TensorOptions() << "\n"
      << torch::TensorOptions()
             .dtype(torch::kHalf)
             .device("cuda:2")
             .requires_grad(true)
      << "\n";
  out << torch::Scalar(3) << " " << torch::Scalar(2.5) << " "
      << torch::Scalar(true) << " " << torch::Scalar(c10::complex<double>(1, 2))
      << "\n";
  out << torch::ones({2, 3}).sizes() << "\n";
  using torch::indexing::None;
  using torch::indexing::Slice;
  using torch::indexing::TensorIndex;
  out << Slice(1, None, 2) << " " << TensorIndex(None) << " "
      << TensorIndex("...") << " " << TensorIndex(3) << " " << TensorIndex(true)
      << "\n";
}

template <class Error>
std::string text_of(const Error& error) {
#ifdef TORCH_HOTARU
  return error.what();
#else
  return error.what_without_backtrace();
#endif
}

inline void print_errors(std::ostream& out) {
  const auto two = torch::ones(2);
  const std::vector<std::function<void()>> cases{
      [&] { two.data_ptr<double>(); },
      [&] { two.accessor<float, 2>(); },
      [] {
        torch::ones({2, 2}).item();
      },
      [&] { two[5]; },
      [&] {
        two.index({0, 0});
      },
      [&] { two.index({"foo"}); },
      [&] { two.backward(); },
      [] { TORCH_CHECK(1 == 2); },
      [] { TORCH_CHECK(1 == 2, "because ", 3); },
      [] {
        torch::ones({2, 3}).matmul(torch::ones({2, 3}));
      },
      [] { torch::from_blob(nullptr, {-1}); },
      [] { torch::indexing::Slice(0, 1, 0); },
      [] {
        torch::ones(2, torch::TensorOptions(torch::kInt).requires_grad(true));
      },
      [] { AT_DISPATCH_FLOATING_TYPES(torch::kInt, "foo", [&] {}); },
      [] { at::Tensor().device(); },
  };
  for (const auto& run : cases) {
    try {
      run();
      out << "no error\n";
    } catch (const c10::IndexError& error) {
      out << "IndexError: " << text_of(error) << "\n";
    } catch (const c10::ValueError& error) {
      out << "ValueError: " << text_of(error) << "\n";
    } catch (const c10::NotImplementedError& error) {
      out << "NotImplementedError: " << text_of(error) << "\n";
    } catch (const c10::Error& error) {
      out << "Error: " << text_of(error) << "\n";
    }
  }
}

inline void print_cases(std::ostream& out) {
  print_tensors(out);
  print_names(out);
  print_errors(out);
}

#ifdef PRINT_CASES_MAIN
int main() {
  print_cases(std::cout);
}
#endif
