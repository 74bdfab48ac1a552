// The algorithms of matrix products on the CPU, and which of them a call takes.
#pragma once

#include "hotaru/backend/cpu/matmul/gemm_problem.h"
#include "hotaru/runtime/ways.h"

namespace hotaru {

/// A product as gemm() is asked for it. Where a table is only asked, operands
/// have strides and no memory.
template <class T>
struct GemmCall {
  int64_t m, n, k;
  OpMath<T> alpha = OpMath<T>(1);
  MatrixRef<T> a, b;
  OpMath<T> beta = OpMath<T>(0);
  T* c = nullptr;
  int64_t ldc = 0;
  Epilogue<T> epilogue = {};
};

/// Answers of the table's rows to such a call: gemm() runs the first that
/// serves it and pays.
template <class T>
WayAnswers explain_product(const GemmCall<T>& call);
/// The same of a product with a matrix that was packed. T: float, double.
template <class T>
WayAnswers explain_packed(int64_t m, int64_t n, int64_t k);

}  // namespace hotaru
