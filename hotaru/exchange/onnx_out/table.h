// Which function writes which operator.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hotaru/exchange/onnx_out/lowering.h"

namespace hotaru::exchange::onnx_out {

/// One operator: its name, or name and overload ("where.ScalarOther"), and
/// what writes it. The in-place form ("relu_") needs no row of its own.
struct Row {
  const char* op;
  void (*build)(Lowering&);
  /// Gives the results' examples where the operator cannot say them without
  /// elements.
  void (*examples)(Lowering&) = nullptr;
};
using Rows = std::span<const Row>;

/// Operators on tensors, by family.
Rows unary_rows();
Rows binary_rows();
Rows activation_rows();
Rows reduce_rows();
Rows order_rows();
Rows shape_rows();
Rows pad_rows();
Rows view_rows();
Rows part_rows();
Rows create_rows();
Rows index_rows();
Rows scatter_rows();
Rows matmul_rows();
Rows conv_rows();
Rows pool_rows();
Rows norm_rows();
Rows rnn_rows();
Rows attention_rows();
Rows loss_rows();
Rows resize_rows();
Rows quantized_rows();
/// Numbers of the host that depend on inputs, and what makes them.
Rows number_rows();
/// Lists, dicts, modes.
Rows host_rows();
Rows mode_rows();

const Row* find_row(const Operator& op);
const Row* find_number_row(const Operator& op);
const Row* find_host_row(const Operator& op);

/// Names of the operators on tensors that have a row, sorted.
std::vector<std::string> exported_operators();

}  // namespace hotaru::exchange::onnx_out
