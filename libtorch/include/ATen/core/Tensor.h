// The tensor of C++ programs: every operator of the registry as a method.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <vector>

#include "ATen/Dimname.h"
#include "ATen/core/Generator.h"
#include "ATen/core/List.h"
#include "ATen/core/TensorBase.h"
#include "c10/core/QScheme.h"
#include "c10/core/Scalar.h"
#include "c10/core/Stream.h"
#include "c10/core/SymInt.h"
#include "c10/util/Optional.h"
#include "c10/util/OptionalArrayRef.h"

namespace torch::autograd {
class Node;
}

namespace at {

class Tensor;
using TensorList = ArrayRef<Tensor>;
using ITensorListRef = TensorList;
using c10::Device;
using c10::DeviceIndex;
using c10::Layout;
using c10::MemoryFormat;
using c10::ScalarType;
using c10::Storage;
using c10::Stream;
using c10::TensorOptions;

namespace indexing {
struct TensorIndex;
}

/// See TensorBase. Methods that end in `_` write in place and give the tensor
/// itself. Operators record gradients as autograd's mode of the thread says.
class Tensor : public TensorBase {
 public:
  Tensor() = default;
  explicit Tensor(const TensorBase& base) : TensorBase(base) {}
  explicit Tensor(TensorBase&& base) : TensorBase(std::move(base)) {}
  explicit Tensor(hotaru::Tensor tensor) : TensorBase(std::move(tensor)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;

  /// Tensors that a name holds are replaced: x = y. What an expression gives is
  /// written to: x[0] = y, x.select(0, 1) = 2.
  Tensor& operator=(const Tensor& other) & = default;
  Tensor& operator=(Tensor&& other) & = default;
  Tensor& operator=(const Scalar& value) &&;
  Tensor& operator=(const Tensor& other) &&;
  Tensor& operator=(Tensor&& other) && {
    return std::move(*this) = static_cast<const Tensor&>(other);
  }

  Tensor& operator+=(const Tensor& other);
  Tensor& operator+=(const Scalar& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator-=(const Scalar& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator*=(const Scalar& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator/=(const Scalar& other);
  Tensor& operator&=(const Tensor& other);
  Tensor& operator|=(const Tensor& other);
  Tensor& operator^=(const Tensor& other);
  Tensor operator~() const;
  Tensor operator-() const;
  Tensor operator[](int64_t index) const;
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;

  /// x[...] with Slice, None, "...", integers, bools and tensors; see
  /// ATen/TensorIndexing.h.
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices,
                     const Tensor& values);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices,
                     const Scalar& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Tensor& values);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Scalar& value);

  /// The only element. Waits for it.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  /// Options that say nothing stay as they are.
  Tensor to(const TensorOptions& options, bool non_blocking = false,
            bool copy = false, optional<MemoryFormat> format = {}) const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false,
            bool copy = false, optional<MemoryFormat> format = {}) const;
  Tensor to(Device device, caffe2::TypeMeta dtype, bool non_blocking = false,
            bool copy = false) const {
    return to(device, dtype.toScalarType(), non_blocking, copy);
  }
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false,
            optional<MemoryFormat> format = {}) const;
  Tensor to(caffe2::TypeMeta dtype, bool non_blocking = false,
            bool copy = false) const {
    return to(dtype.toScalarType(), non_blocking, copy);
  }
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            optional<MemoryFormat> format = {}) const;
  Tensor toType(ScalarType dtype) const { return to(dtype); }
  Tensor cpu() const { return to(TensorOptions(c10::kCPU)); }
  Tensor cuda() const { return to(TensorOptions(c10::kCUDA)); }
  Tensor meta() const { return to(TensorOptions(c10::kMeta)); }

  /// Adds the gradients of this tensor to those of the leaves it depends on,
  /// or only of `inputs`; `gradient` may be missing for a scalar. Throws
  /// PyTorch's texts.
  void backward(const Tensor& gradient = {}, optional<bool> retain_graph = {},
                bool create_graph = false,
                optional<TensorList> inputs = {}) const;
  const Tensor& set_requires_grad(bool on) const;
  const Tensor& requires_grad_(bool on = true) const {
    return set_requires_grad(on);
  }
  /// Undefined where there is none.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  void retain_grad() const;
  /// The node that made it, or null.
  std::shared_ptr<torch::autograd::Node> grad_fn() const;
  std::string name() const { return {}; }
  /// The same memory without history; unlike detach(), writes to data() go
  /// unnoticed by autograd.
  Tensor data() const;
  /// data_ptr<T>(), as older programs call it.
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// Names of dimensions: none, and none can be given.
  bool has_names() const { return false; }
  std::vector<Dimname> names() const {
    return std::vector<Dimname>(size_t(dim()), Dimname::wildcard());
  }
  Tensor rename(optional<DimnameList> names) const;
  Tensor& rename_(optional<DimnameList> names) const;
  Tensor refine_names(DimnameList names) const;
  Tensor align_to(DimnameList names) const;
  Tensor align_to(DimnameList order, int64_t ellipsis) const;
  Tensor align_as(const Tensor& other) const;
  Tensor flatten(DimnameList dims, Dimname out_dim) const;
  Tensor unflatten(Dimname dim, IntArrayRef sizes, DimnameList names) const;

  Tensor tensor_data() const { return data(); }
  Tensor variable_data() const { return data(); }
  /// Makes this tensor look at another's memory.
  void set_data(const Tensor& other) const;

  /// f(grad), called with each gradient of this tensor; what it returns, if a
  /// defined tensor, takes the gradient's place. The number is remove_hook's.
  template <class F>
  unsigned register_hook(F&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Tensor>>)
      return add_hook([f = std::forward<F>(hook)](Tensor grad) mutable {
        f(std::move(grad));
        return Tensor();
      });
    else
      return add_hook(std::forward<F>(hook));
  }
  void remove_hook(unsigned number) const;

#include "ATen/core/TensorMethods.inc"
  /// Along one dimension: by an int of its own, as the 0 of var(0) would be the
  /// `unbiased` of all elements otherwise.
  Tensor var(int dim) const {
    const int64_t one = dim;
    return var(IntArrayRef(one));
  }
  Tensor std(int dim) const {
    const int64_t one = dim;
    return std(IntArrayRef(one));
  }

 private:
  unsigned add_hook(std::function<Tensor(Tensor)> hook) const;
};

static_assert(sizeof(Tensor) == sizeof(void*));

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
/// As PyTorch's C++ prints: fixed columns, "[ CPUFloatType{2,2} ]" behind them.
std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize);
void print(const Tensor& tensor, int64_t linesize = 80);

#define HOTARU_TORCH_OPERATOR(op) \
  Tensor operator op(const Tensor& a, const Tensor& b); \
  Tensor operator op(const Tensor& a, const Scalar& b); \
  Tensor operator op(const Scalar& a, const Tensor& b);
HOTARU_TORCH_OPERATOR(+)
HOTARU_TORCH_OPERATOR(-)
HOTARU_TORCH_OPERATOR(*)
HOTARU_TORCH_OPERATOR(/)
HOTARU_TORCH_OPERATOR(%)
HOTARU_TORCH_OPERATOR(<)
HOTARU_TORCH_OPERATOR(<=)
HOTARU_TORCH_OPERATOR(>)
HOTARU_TORCH_OPERATOR(>=)
HOTARU_TORCH_OPERATOR(==)
HOTARU_TORCH_OPERATOR(!=)
HOTARU_TORCH_OPERATOR(&)
HOTARU_TORCH_OPERATOR(|)
HOTARU_TORCH_OPERATOR(^)
#undef HOTARU_TORCH_OPERATOR

}  // namespace at

namespace torch {
using at::Tensor;
}
