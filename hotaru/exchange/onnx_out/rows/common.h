// Parts that rows of several families share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "hotaru/exchange/onnx_out/table.h"

namespace hotaru::exchange::onnx_out {

/// Where a slice ends that takes the rest.
inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

/// An operator's name as a template's argument.
struct Text {
  char data[48] = {};
  template <size_t N>
  constexpr Text(const char (&text)[N]) {
    std::copy_n(text, N, data);
  }
};

/// One input of the result's dtype, one output.
template <Text kOp>
void unary(Lowering& l) {
  l.result(l.op(kOp.data, {l.tensor(0, l.out().dtype())}));
}

/// Builds what takes a dimension, of tensors that may have none.
template <void (*kBuild)(Lowering&)>
void of_lines(Lowering& l) {
  if (l.rank() > 0) return kBuild(l);
  Lowering line = l.lined();
  kBuild(line);
  Names out = line.names();
  for (size_t i = 0; i < out.size(); ++i) {
    const IntSpan sizes = l.out(i).first.sizes();
    out[i] = l.reshape(out[i], Ints(sizes.begin(), sizes.end()));
  }
  l.results(out);
}

/// The dtype in which a binary operator computes, of a tensor and another or a
/// number.
DType common_dtype(const Lowering& l, int a, int b);

/// A number as a tensor of the dtype of what it stands beside.
inline std::string like(const Lowering& l, double value, DType dtype) {
  return l.number(Scalar(value), dtype);
}

/// A value in the shape that another one has.
std::string expanded(const Lowering& l, const std::string& value,
                     const std::string& shape);
/// A tensor filled with a number: of known sizes or of a graph's shape.
std::string filled(const Lowering& l, const std::string& number,
                   const std::string& shape);
/// Dimensions counted from the beginning; all of them for an empty list.
Ints all_dims(const Lowering& l, Ints dims, int64_t rank);
/// 0, 1, ... n - 1.
Ints iota(int64_t n);
/// The size of a dimension: known, or of the value's shape, without
/// dimensions or with one.
std::string size_of(const Lowering& l, const std::string& value,
                    const Example& example, int64_t dim);
/// The p-norm over these dimensions, in the result's dtype; p may be 0 (how
/// many are not zero) and infinite.
std::string norm_over(const Lowering& l, const std::string& x, double p,
                      const Ints& dims, bool keep);
/// Applies a loss's reduction: 0 none, 1 mean, 2 sum.
std::string reduced(const Lowering& l, const std::string& value,
                    int64_t reduction);

}  // namespace hotaru::exchange::onnx_out
