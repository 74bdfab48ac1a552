#include "hotaru/runtime/kernel.h"

#include <cstddef>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/core/memory/pool.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/core/tensor.h"
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

/// The tensor as it is now, made in the given memory. Its handle's reference is
/// never given back, so that no other handle frees it.
void hold(const Tensor& t, void* handle, void* memory) {
  if (!t.defined()) {
    new (handle) Tensor();
    return;
  }
  auto* held = ::new (memory) TensorImpl(*t.impl());
  held->in_turn = true;
  new (handle) Tensor(Ref<TensorImpl>(held));
}

void let_go(const Tensor& held) {
  if (held.defined()) held.impl()->~TensorImpl();
}

}  // namespace

OwnedCall::OwnedCall(const KernelCall& call) : call_(call) {
  const size_t count = call.operands_.size();
  const Layout layout(count, call.type_ ? call.type_->size : 0);
  size_ = layout.size;
  block_ = BlockPool::allocate(size_);
  auto* bytes = static_cast<std::byte*>(block_);
  auto* operands = reinterpret_cast<Operand*>(bytes);
  auto* tensors = reinterpret_cast<Tensor*>(bytes + layout.tensors);
  for (size_t i = 0; i < count; ++i) {
    auto* operand = new (operands + i) Operand(call.operands_[i]);
    if (operand->object) {
      operand->object->retain();
    } else {
      hold(*operand->tensor, tensors + i,
           bytes + layout.impls + i * aligned(sizeof(TensorImpl)));
      operand->tensor = tensors + i;
    }
  }
  call_.operands_ = {operands, count};
  if (!call.type_) return;
  call.type_->copy(bytes + layout.attributes, call.attributes_);
  call_.attributes_ = bytes + layout.attributes;
}

OwnedCall::~OwnedCall() {
  if (!block_) return;
  clear();
  BlockPool::release(block_, size_);
}

void OwnedCall::clear() {
  for (const Operand& operand : call_.operands_)
    if (operand.object)
      operand.object->release();
    else
      let_go(*operand.tensor);
  if (call_.type_) call_.type_->destroy(const_cast<void*>(call_.attributes_));
  call_.operands_ = {};
  call_.type_ = nullptr;
}

void OwnedCall::claim_block() const {
  const auto* bytes = static_cast<const std::byte*>(block_);
  for (size_t i = 0; i < size_; i += BlockPool::kAlignment)
    __builtin_prefetch(bytes + i, 1);
}

void OwnedCall::claim_operands() const {
  for (const Operand& operand : call_.operands_)
    if (operand.tensor && operand.tensor->defined())
      __builtin_prefetch(operand.tensor->storage().get(), 1);
}

std::exception_ptr with_call(std::string_view what, const KernelCall& call) {
  std::vector<IntSpan> shapes;
  for (const Operand& operand : call.operands())
    if (operand.tensor && operand.tensor->defined())
      shapes.push_back(operand.tensor->sizes());
  return with_call(what, call.kernel().name(), shapes);
}

std::exception_ptr with_call(std::string_view what, const std::string& kernel,
                             std::span<const IntSpan> shapes) {
  std::string where = concat("\n  (in ", what, " of ", kernel, " on ");
  for (const IntSpan sizes : shapes) where += concat(shape_text(sizes), " ");
  where.back() = ')';
  try {
    throw;
  } catch (const IndexError& e) {
    return std::make_exception_ptr(IndexError(e.what() + where));
  } catch (const TypeError& e) {
    return std::make_exception_ptr(TypeError(e.what() + where));
  } catch (const ValueError& e) {
    return std::make_exception_ptr(ValueError(e.what() + where));
  } catch (const NotImplementedError& e) {
    return std::make_exception_ptr(NotImplementedError(e.what() + where));
  } catch (const AssertionError& e) {
    return std::make_exception_ptr(AssertionError(e.what() + where));
  } catch (const LinAlgError& e) {
    return std::make_exception_ptr(LinAlgError(e.what() + where));
  } catch (const Error& e) {
    return std::make_exception_ptr(Error(e.what() + where));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace hotaru
