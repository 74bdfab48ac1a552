// Products of matrices by a weight that is a constant of the program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/script/ir/ir.h"

namespace hotaru::script {

/// x [..., k] times the transpose of weight [n, k], plus bias.
struct ConstantProduct {
  Node* node;
  Var* x;
  /// Which input the weight is.
  size_t at;
  /// The weight as the program holds it, and whether that is [k, n].
  Tensor constant;
  bool transposed;
  /// Null without one.
  Var* bias;

  /// [n, k], a view.
  Tensor weight() const;
  /// The weight as the operator takes it, [n, k] or [k, n], and whether that
  /// is the constant's transpose.
  Tensor operand() const;
  bool turned() const;
};

/// The node as such a product: linear, mm, matmul by a matrix, addmm whose
/// bias is a constant of one dimension and whose factors are 1. The weight is a
/// constant, or its transpose by t, transpose, permute or numpy_T.
std::optional<ConstantProduct> constant_product(Node& node);

/// True if an operator of that name is a product of matrices or a convolution.
bool is_product(const Node& node);

/// Counts of a rewrite of linear maps: how many of the program's products.
struct ProductCounts {
  size_t rewritten = 0;
  /// Embeddings of constant tables that were rewritten, too.
  size_t embeddings = 0;
  /// And recurrent layers.
  size_t recurrent = 0;
  /// Operators of products and convolutions that stayed, each as often as it
  /// stands in the program: their weight is no constant, or not of float32, or
  /// they stand in a function that could not become part of its caller.
  std::vector<std::string> kept;

  /// The node as one that stays: if it is a product, or calls a function, with
  /// the products of that.
  void keep(const Node& node);
};

/// Calls `visit` with every node, inner blocks first; it may erase its node.
void for_each_node(Block& block, const std::function<void(Node&)>& visit);

/// A constant before `where`.
Var* constant_before(Graph& graph, Node* where, Value value, TypePtr type);

}  // namespace hotaru::script
