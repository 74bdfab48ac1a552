// Tensors out of numbers in braces.
#include "torch/types.h"

namespace torch {
namespace detail {
namespace {

/// Writes a number as an element. Host memory.
void put(void* data, at::ScalarType type, int64_t i, const at::Scalar& number) {
  hotaru::visit_dtype(
      hotaru::AllTypes{}, c10::to_hotaru(type), "tensor",
      [&]<class T>() { static_cast<T*>(data)[i] = to_hotaru(number).to<T>(); });
}

}  // namespace

TensorDataContainer::TensorDataContainer(
    std::initializer_list<TensorDataContainer> items)
    : list_(true), items_(items) {
  const TensorDataContainer& first = items_.front();
  type_ = first.type_;
  sizes_ = {int64_t(items_.size())};
  sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
  for (const TensorDataContainer& item : items_) {
    TORCH_CHECK(
        item.sizes_ == first.sizes_ && item.list_ == first.list_,
        "Expected all sub-lists to have sizes: ", at::IntArrayRef(first.sizes_),
        " (e.g. ", first, "), but got sub-list ", item,
        " with sizes: ", at::IntArrayRef(item.sizes_));
    TORCH_CHECK(item.type_ == type_,
                "Expected all elements of the tensor to have the same scalar "
                "type: ",
                type_, ", but got element of scalar type: ", item.type_);
  }
}

at::Tensor TensorDataContainer::convert_to_tensor(
    at::TensorOptions options) const {
  if (!options.has_dtype()) options = options.dtype(type_);
  const at::ScalarType type = options.dtype().toScalarType();
  const at::Tensor out = at::empty(sizes_, at::TensorOptions(type));
  if (out.numel() > 0) {
    int64_t next = 0;
    void* data = out.mutable_data_ptr();
    const auto walk = [&](const TensorDataContainer& c,
                          const auto& self) -> void {
      if (c.is_scalar()) return put(data, type, next++, c.number_);
      for (const TensorDataContainer& item : c.items_) self(item, self);
    };
    walk(*this, walk);
  }
  const at::Tensor moved = out.to(options.device());
  return options.requires_grad() ? moved.set_requires_grad(true) : moved;
}

void TensorDataContainer::pretty_print_recursive(std::ostream& out) const {
  if (is_scalar()) {
    out << number_;
    return;
  }
  out << '{';
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i) out << ", ";
    items_[i].pretty_print_recursive(out);
  }
  out << '}';
}

std::ostream& operator<<(std::ostream& out,
                         const TensorDataContainer& container) {
  container.pretty_print_recursive(out);
  return out;
}

}  // namespace detail

at::Tensor tensor(detail::TensorDataContainer data,
                  const at::TensorOptions& options) {
  return data.convert_to_tensor(options);
}

}  // namespace torch
