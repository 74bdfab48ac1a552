#include "hotaru/runtime/kernel.h"

#include <cstddef>

#include "hotaru/runtime/backend.h"

namespace hotaru {

void Kernel::missing(DeviceType type) const {
  fail<NotImplementedError>(name_, ": not implemented for device ",
                            device_type_name(type));
}

Kernel& kernel(std::string_view name) {
  return DeviceTable::instance().kernel(name);
}

namespace {

constexpr size_t aligned(size_t size) {
  return (size + 15) / 16 * 16;
}

/// Where things lie in an OwnedCall's block.
struct Layout {
  explicit Layout(size_t operands, size_t attributes)
      : tensors(aligned(operands * sizeof(Operand))),
        impls(tensors + aligned(operands * sizeof(Tensor))),
        attributes(impls + operands * aligned(sizeof(TensorImpl))),
        size(this->attributes + attributes) {}
  size_t tensors, impls, attributes, size;
};

/// The tensor as it is now, made in the given memory. It owns a reference to
/// itself, so that no handle ever frees it.
Tensor in_turn(const Tensor& t, void* memory) {
  if (!t.defined()) return {};
  auto* held = ::new (memory) TensorImpl(t.storage(), t.dtype(), t.sizes(),
                                         t.strides(), t.storage_offset());
  held->retain();
  held->in_turn = true;
  held->wrapped_number = t.impl()->wrapped_number;
  return Tensor(Ref<TensorImpl>(held));
}

void destroy(const Tensor& held) {
  TensorImpl* impl = held.impl();
  held.~Tensor();
  if (impl) impl->~TensorImpl();
}

}  // namespace

OwnedCall::OwnedCall(const KernelCall& call) : call_(call) {
  const size_t count = call.operands_.size();
  const Layout layout(count, call.type_ ? call.type_->size : 0);
  block_ = ::operator new(layout.size);
  auto* bytes = static_cast<std::byte*>(block_);
  auto* operands = reinterpret_cast<Operand*>(bytes);
  auto* tensors = reinterpret_cast<Tensor*>(bytes + layout.tensors);
  for (size_t i = 0; i < count; ++i) {
    auto* operand = new (operands + i) Operand(call.operands_[i]);
    auto* tensor = new (tensors + i) Tensor();
    if (operand->object) {
      operand->object->retain();
    } else {
      *tensor = in_turn(*operand->tensor,
                        bytes + layout.impls + i * aligned(sizeof(TensorImpl)));
      operand->tensor = tensor;
    }
  }
  call_.operands_ = {operands, count};
  if (!call.type_) return;
  call.type_->copy(bytes + layout.attributes, call.attributes_);
  call_.attributes_ = bytes + layout.attributes;
}

OwnedCall::~OwnedCall() {
  if (!block_) return;
  for (const Operand& operand : call_.operands_) {
    if (operand.object)
      operand.object->release();
    else
      destroy(*operand.tensor);
  }
  if (call_.type_) call_.type_->destroy(const_cast<void*>(call_.attributes_));
  ::operator delete(block_);
}

}  // namespace hotaru
