// `out=`: results that go to tensors of the caller's, whatever language calls.
#pragma once

#include <optional>
#include <span>

#include "hotaru/ops/registry.h"
#include "hotaru/runtime/result_place.h"

namespace hotaru {

/// Makes in the dtype and on the device of `out` what is made from sizes and
/// numbers alone, and sums. `dtype_given`: whether the caller said a dtype;
/// throws PyTorch's error if it is another.
void follow_out(const Schema& schema, const Tensor& out, bool dtype_given,
                Value* arguments);
/// How the operator may write its result straight into `out`, as far as its
/// arguments tell: nothing if one of them has a history or lies in a part of
/// its memory.
std::optional<ResultPlace::For> result_place(const Operator& op,
                                             const Value* arguments,
                                             const Tensor& out);
/// Throws PyTorch's error where an operator that reads at indices or joins
/// tensors would write into what it reads.
void check_out_apart(const Operator& op, const Value* arguments,
                     const Tensor& out);
/// NotImplementedError where one of `out` or an argument is a dual number.
void check_without_tangents(const Operator& op, const Value* arguments,
                            std::span<const Tensor> out);
/// Writes the result into `out`, which is resized to fit, unless it is there.
/// Throws PyTorch's errors for histories and dtypes.
void write_out(const Operator& op, const Tensor& out, const Tensor& result);

}  // namespace hotaru
