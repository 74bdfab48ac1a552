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
        attributes(tensors + aligned(operands * sizeof(Tensor))),
        size(this->attributes + attributes) {}
  size_t tensors, attributes, size;
};

Tensor in_turn(const Tensor& t) {
  if (!t.defined()) return {};
  Tensor held = make_alias(t);
  held.impl()->in_turn = true;
  held.impl()->wrapped_number = t.impl()->wrapped_number;
  return held;
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
      *tensor = in_turn(*operand->tensor);
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
      operand.tensor->~Tensor();
  }
  if (call_.type_) call_.type_->destroy(const_cast<void*>(call_.attributes_));
  ::operator delete(block_);
}

}  // namespace hotaru
