// Helpers that the formulas of libtorch/operators are written with.
#pragma once

#include "ATen/Functions.h"
#include "c10/core/GradMode.h"
#include "source/call.h"
#include "torch/autograd.h"
#include "torch/nn/utils/rnn.h"

namespace hotaru::libtorch {

/// Throws NotImplementedError: PyTorch declares the operator, hotaru has none.
using Arg = const at::Tensor&;

[[noreturn]] void absent(const char* name);

inline at::TensorOptions options_of(std::optional<at::ScalarType> dtype,
                                    std::optional<at::Layout> layout,
                                    std::optional<at::Device> device,
                                    std::optional<bool> pinned) {
  at::TensorOptions out;
  if (dtype) out = out.dtype(*dtype);
  if (layout) out = out.layout(*layout);
  if (device) out = out.device(*device);
  if (pinned) out = out.pinned_memory(*pinned);
  return out;
}
inline at::TensorOptions like(const at::Tensor& t) {
  return t.options();
}

/// Writes results where PyTorch's `out` says, resized to fit.
template <class... T, class... Out>
std::tuple<Out&...> give(const std::tuple<T...>& made, Out&... out) {
  std::apply([&](const T&... one) { (give(one, out), ...); }, made);
  return {out...};
}

/// The gradient of forward(x) towards x at `self`, for a result's `grad`. It
/// can be differentiated itself where one of both needs gradients.
template <class F>
at::Tensor derived(const at::Tensor& grad, const at::Tensor& self, F forward) {
  const bool again = at::GradMode::is_enabled() &&
                     (grad.requires_grad() || self.requires_grad());
  const at::AutoGradMode on(true);
  const at::Tensor x = again && self.requires_grad()
                           ? self.view_as(self)
                           : self.detach().requires_grad_();
  const at::Tensor y = forward(x);
  return torch::autograd::grad({y}, {x}, {grad}, again, again)[0];
}
/// The same of a function that is linear, at a tensor of that size.
template <class F>
at::Tensor derived(const at::Tensor& grad, at::IntArrayRef sizes, F forward) {
  return derived(grad, at::zeros(sizes, grad.options()), forward);
}

/// A new tensor of these values, with nothing shared.
inline at::Tensor fresh(const at::Tensor& t) {
  return t.clone();
}
std::vector<at::Tensor> fresh(const std::vector<at::Tensor>& list);

/// The gradient of a maximum per window, at the elements that `indices` names
/// in the last n dimensions.
at::Tensor picked(const at::Tensor& grad, const at::Tensor& self,
                  const at::Tensor& indices, int64_t n);

/// f of each tensor.
template <class F>
std::vector<at::Tensor> each(at::TensorList list, F f) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& t : list) out.push_back(f(t));
  return out;
}

/// Windows of a dtype that is floating point; others throw.
at::Tensor bartlett(int64_t n, bool periodic, at::TensorOptions options);
at::Tensor blackman(int64_t n, bool periodic, at::TensorOptions options);
at::Tensor hamming(int64_t n, bool periodic, double alpha, double beta,
                   at::TensorOptions options, const char* name);
at::Tensor kaiser(int64_t n, bool periodic, double beta,
                  at::TensorOptions options);
/// torch.range: up to `end`, which is included.
at::Tensor inclusive_range(const at::Scalar& start, const at::Scalar& end,
                           const at::Scalar& step, at::TensorOptions options);

bool truth(const at::Tensor& t);
bool looks_alike(const at::Tensor& a, const at::Tensor& b);
bool castable(at::ScalarType from, at::ScalarType to);
/// The dtype that arithmetic of both gives.
at::ScalarType common_dtype(const at::Tensor& a, const at::Tensor& b);
at::ScalarType common_dtype(const at::Tensor& a, const at::Scalar& b);
at::Tensor shape_tensor(const at::Tensor& t);
std::vector<int64_t> int_list(const at::Tensor& t);

void fill_diagonal(const at::Tensor& self, const at::Scalar& value, bool wrap);
/// Dense where `stride` is empty.
at::Tensor strided(const at::Tensor& source, int64_t offset,
                   at::IntArrayRef size, at::IntArrayRef stride);
std::vector<at::Tensor> unflattened(const at::Tensor& flat,
                                    at::TensorList like);
/// The name of at::padding_mode's number.
const char* padding_mode(int64_t mode);

}  // namespace hotaru::libtorch
