#include "hotaru/runtime/kernel.h"

#include "hotaru/runtime/backend.h"

namespace hotaru {

void Kernel::missing(DeviceType type) const {
  fail<NotImplementedError>(name_, ": not implemented for device ",
                            device_type_name(type));
}

Kernel& kernel(std::string_view name) {
  return DeviceTable::instance().kernel(name);
}

OwnedCall::OwnedCall(const KernelCall& call) {
  tensors_.reserve(call.operands().size());
  for (Operand operand : call.operands()) {
    if (operand.tensor && operand.tensor->defined()) {
      operand.tensor = &tensors_.emplace_back(make_alias(*operand.tensor));
    } else if (operand.tensor) {
      operand.tensor = &tensors_.emplace_back();
    } else {
      objects_.emplace_back(operand.object);
    }
    operands_.push_back(operand);
  }
  call_ = std::make_unique<KernelCall>(call);
  call_->operands_ = operands_;
  if (!call.attributes_) return;
  attributes_ = {call.type_->copy(call.attributes_), Destroy{call.type_}};
  call_->attributes_ = attributes_.get();
}

}  // namespace hotaru
