// Gradients where formulas break: those that do not depend on an input, but are
// named after it, those that are masked out, and those of mixed dtypes.
#pragma once

#include "hotaru/autograd/record.h"

namespace hotaru {

/// For formulas of operators that are piecewise linear in an input (relu, its
/// gradient is g or 0): `gradient`, that input's, with an edge to where the
/// input came from, over which zeros flow. PyTorch's graphs have such edges:
/// second derivatives exist, and are zeros rather than none. `node` is the new
/// node's name, by default the formula's with another "Backward".
Tensor flat_in(const autograd::Backward& b, const Tensor& gradient,
               size_t input = 0, const char* node = nullptr);

/// The same for the first two inputs: of a bias that is added to what is made
/// of them.
Tensor flat_in_both(const autograd::Backward& b, const Tensor& gradient);

/// The same for formulas in terms of their operator's result: zeros flow
/// through it once more, so that derivatives of any order exist.
Tensor flat_in_output(const autograd::Backward& b, const Tensor& gradient,
                      const char* node);

/// `t` with 1 where `mask` is, for a formula whose result is masked out there,
/// if derivatives of it may be asked for: those of a division by zero are
/// infinite, and zero times infinity is NaN. Else `t`.
Tensor harmless(const Tensor& t, const Tensor& mask);

/// `t` in float32 if it has 16 bits: formulas of several steps would round each
/// of them.
Tensor widened(const Tensor& t);

/// `t`, for a function of it alone, in the dtype of `like` if that is more
/// precise: a logarithm of what was promoted with a float64 tensor would else
/// be computed in float32, of integers and plain numbers, too.
Tensor in_precision_of(const Tensor& like, const Tensor& t);

}  // namespace hotaru
