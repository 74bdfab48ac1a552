// Every operator of the registry as a function, under PyTorch's signatures:
// at::add(a, b), at::conv2d(x, w, b, {2, 2}), at::add_out(out, a, b).
#pragma once

#include <limits>
#include <tuple>

#include "ATen/core/Tensor.h"
#include "c10/core/TensorOptions.h"

namespace at {

#include "ATen/Functions.inc"
#include "ATen/forms_by_hand.h"

/// Along one dimension, as Tensor::var(int).
inline Tensor var(const Tensor& self, int dim) {
  return self.var(dim);
}
inline Tensor std(const Tensor& self, int dim) {
  return self.std(dim);
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, int dim) {
  const int64_t one = dim;
  return var_mean(self, IntArrayRef(one));
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, int dim) {
  const int64_t one = dim;
  return std_mean(self, IntArrayRef(one));
}

using Deleter = std::function<void(void*)>;

/// A tensor over memory of the caller's, who keeps it alive as long as the
/// tensor, or until `deleter` is called with it. Of options only the dtype and
/// the device count, and requires_grad.
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const Deleter& deleter, const TensorOptions& options = {},
                 optional<Device> target_device = {});
Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter,
                 const TensorOptions& options = {},
                 optional<Device> target_device = {});
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes,
                 const TensorOptions& options = {});

/// from_blob step by step: for_blob(data, sizes).options(kInt).make_tensor().
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes) {}
  TensorMaker& strides(OptionalIntArrayRef strides) {
    strides_ = strides;
    return *this;
  }
  TensorMaker& deleter(Deleter deleter) {
    deleter_ = std::move(deleter);
    return *this;
  }
  TensorMaker& options(TensorOptions options) {
    options_ = options;
    return *this;
  }
  TensorMaker& target_device(optional<Device> device) {
    device_ = device;
    return *this;
  }
  Tensor make_tensor() const;

 private:
  void* data_;
  IntArrayRef sizes_;
  OptionalIntArrayRef strides_;
  Deleter deleter_;
  TensorOptions options_;
  optional<Device> device_;
};
inline TensorMaker for_blob(void* data, IntArrayRef sizes) {
  return {data, sizes};
}

/// Names that PyTorch calls overloads by.
namespace _ops {
struct where {
  static std::vector<Tensor> call(const Tensor& condition) {
    return at::where(condition);
  }
};
}  // namespace _ops

inline int64_t numel(const Tensor& tensor) {
  return tensor.numel();
}
inline int64_t size(const Tensor& tensor, int64_t dim) {
  return tensor.size(dim);
}
inline int64_t stride(const Tensor& tensor, int64_t dim) {
  return tensor.stride(dim);
}
inline bool is_complex(const Tensor& tensor) {
  return tensor.is_complex();
}
inline bool is_floating_point(const Tensor& tensor) {
  return tensor.is_floating_point();
}
inline ScalarType promote_types(ScalarType a, ScalarType b) {
  return c10::promoteTypes(a, b);
}
inline std::vector<Tensor> to_vector(TensorList list) {
  return list.vec();
}

}  // namespace at
