// A kernel, and one call of it: everything that travels through the door to a
// device (Stream::enqueue) and nothing else.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hotaru/core/device.h"
#include "hotaru/core/ordered.h"
#include "hotaru/core/shape.h"
#include "hotaru/runtime/ways.h"

namespace hotaru {

class KernelCall;
class Tensor;
/// Computes. Runs in whichever thread the stream chooses; reads and writes
/// only its operands.
using KernelFunction = void (*)(const KernelCall&);

/// A call that is run again and again: what its operands' geometry and
/// addresses decide is decided once.
class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  /// Not from two threads at once. Throws as the call would.
  virtual void run() = 0;
};
/// Null if the kernel can do no better for this call. The call and all its
/// operands, which stay where they are, outlive the result.
using PrepareFunction =
    std::unique_ptr<PreparedCall> (*)(const KernelCall& call);

/// Which of a kernel's algorithms a call takes, see WayAnswer. Looks at
/// geometry, dtypes and attributes alone: operands need no memory.
using ExplainFunction = WayAnswers (*)(const KernelCall& call);

/// A kernel's name and its implementation on each device.
class Kernel {
 public:
  explicit Kernel(std::string_view name) : name_(name) {}
  const std::string& name() const { return name_; }
  /// Throws NotImplementedError "<name>: not implemented for device <type>".
  KernelFunction on(DeviceType type) const {
    const KernelFunction f = functions_[size_t(type)];
    if (!f) [[unlikely]]
      missing(type);
    return f;
  }
  bool has(DeviceType type) const { return functions_[size_t(type)]; }
  /// Throws what on() throws, and the NotImplementedError that running the
  /// call would begin with: the device's code lacks an operand's dtype. For
  /// streams that run it later; looks at no element.
  void check(DeviceType type, const KernelCall& call) const {
    on(type);
    if (const KernelFunction f = checks_[size_t(type)]) f(call);
  }
  /// `check` throws if f has no code for a call; null if f takes all dtypes.
  void set(DeviceType type, KernelFunction f, KernelFunction check = nullptr) {
    functions_[size_t(type)] = f;
    checks_[size_t(type)] = check;
  }
  /// For calls that will run often, see PreparedCall. May give null.
  std::unique_ptr<PreparedCall> prepare(DeviceType type,
                                        const KernelCall& call) const {
    const PrepareFunction f = prepares_[size_t(type)];
    return f ? f(call) : nullptr;
  }
  void set_prepare(DeviceType type, PrepareFunction f) {
    prepares_[size_t(type)] = f;
  }
  /// The algorithms that a call chooses from; none where there is one.
  WayAnswers explain(DeviceType type, const KernelCall& call) const {
    const ExplainFunction f = explains_[size_t(type)];
    return f ? f(call) : WayAnswers();
  }
  void set_explain(DeviceType type, ExplainFunction f) {
    explains_[size_t(type)] = f;
  }

 private:
  [[noreturn]] void missing(DeviceType type) const;

  std::string name_;
  KernelFunction functions_[kDeviceTypes] = {};
  KernelFunction checks_[kDeviceTypes] = {};
  PrepareFunction prepares_[kDeviceTypes] = {};
  ExplainFunction explains_[kDeviceTypes] = {};
};

/// The kernel of that name; made on first mention, so operators and back ends
/// may come up in any order. Call it once and keep the reference.
Kernel& kernel(std::string_view name);

/// Puts a device's implementation into the table when its library is loaded.
struct KernelRegistration {
  KernelRegistration(DeviceType type, std::string_view name, KernelFunction f,
                     KernelFunction check = nullptr) {
    kernel(name).set(type, f, check);
  }
};

/// The same for what explains a kernel's algorithms.
struct KernelWays {
  KernelWays(DeviceType type, std::string_view name, ExplainFunction f) {
    kernel(name).set_explain(type, f);
  }
};

enum class Access : uint8_t { kRead, kWrite, kReadWrite };

/// Something a kernel reads or writes: a tensor, or a shared object such as a
/// generator. See also operand.h.
struct Operand {
  const Tensor* tensor = nullptr;
  Ordered* object = nullptr;
  Access access = Access::kRead;

  bool reads() const { return access != Access::kWrite; }
  bool writes() const { return access != Access::kRead; }
};
inline Operand read(const Tensor& t) {
  return {&t, nullptr, Access::kRead};
}
inline Operand write(const Tensor& t) {
  return {&t, nullptr, Access::kWrite};
}
inline Operand update(const Tensor& t) {
  return {&t, nullptr, Access::kReadWrite};
}
inline Operand update(Ordered& o) {
  return {nullptr, &o, Access::kReadWrite};
}

/// How to copy and destroy a kernel's attributes without knowing their type.
struct AttributeType {
  size_t size;
  void (*copy)(void* to, const void* from);
  void (*destroy)(void*);
};
template <class A>
inline constexpr AttributeType kAttributeType{
    sizeof(A),
    [](void* to, const void* from) {
      static_assert(alignof(A) <= 16);
      new (to) A(*static_cast<const A*>(from));
    },
    [](void* a) { static_cast<A*>(a)->~A(); }};

/// Which kernel, its operands, small attributes. Borrows all of them.
class KernelCall {
 public:
  KernelCall(const Kernel& kernel, std::span<const Operand> operands)
      : kernel_(&kernel), operands_(operands) {}
  template <class A>
  KernelCall(const Kernel& kernel, std::span<const Operand> operands,
             const A& attributes)
      : kernel_(&kernel),
        operands_(operands),
        attributes_(&attributes),
        type_(&kAttributeType<A>) {}

  const Kernel& kernel() const { return *kernel_; }
  std::span<const Operand> operands() const { return operands_; }
  /// The i-th operand, which must be a tensor.
  const Tensor& tensor(size_t i) const { return *operands_[i].tensor; }
  /// The i-th operand, which must be an object of class T.
  template <class T>
  T& object(size_t i) const {
    return static_cast<T&>(*operands_[i].object);
  }
  /// The attributes, of the type they were enqueued with.
  template <class A>
  const A& attributes() const {
    return *static_cast<const A*>(attributes_);
  }
  void run(DeviceType type) const { kernel_->on(type)(*this); }

 private:
  friend class OwnedCall;
  const Kernel* kernel_;
  std::span<const Operand> operands_;
  const void* attributes_ = nullptr;
  const AttributeType* type_ = nullptr;
};

/// A call that owns what it touches: buffers, the geometry that operands had
/// when it was made, attributes. What queues and captured graphs keep.
class OwnedCall {
 public:
  explicit OwnedCall(const KernelCall& call);
  OwnedCall(OwnedCall&& other) noexcept
      : call_(other.call_),
        block_(std::exchange(other.block_, nullptr)),
        size_(other.size_) {}
  OwnedCall& operator=(OwnedCall&&) = delete;
  ~OwnedCall();

  /// Valid while this object or the one it is moved to is.
  const KernelCall& call() const { return call_; }
  KernelCall& call() { return call_; }
  /// Gives up what it owns but for the memory of its own.
  void clear();
  /// Before it is destroyed, where another thread used it last: claims its own
  /// memory and then, in a second call, what that points to.
  void claim_block() const;
  void claim_operands() const;

 private:
  KernelCall call_;
  /// One piece of memory: operands, their tensors, attributes.
  void* block_;
  size_t size_;
};

/// In a catch block: the exception, of the same class, whose text also says
/// which call it comes from: "(in <what> of <kernel> on <shapes>)".
std::exception_ptr with_call(std::string_view what, const KernelCall& call);
/// The same of a call of which the shapes of its tensors are left.
std::exception_ptr with_call(std::string_view what, const std::string& kernel,
                             std::span<const IntSpan> shapes);

}  // namespace hotaru

#define HOTARU_CONCAT_(a, b) a##b
#define HOTARU_CONCAT(a, b) HOTARU_CONCAT_(a, b)

/// At namespace scope of a back end: implements a kernel for a device type by
/// a function and, if that lacks dtypes, its check (see Kernel::set).
#define HOTARU_KERNEL(device_type, name, ...) \
  static const ::hotaru::KernelRegistration HOTARU_CONCAT( \
      kernel_, __COUNTER__)(::hotaru::DeviceType::device_type, name, \
                            __VA_ARGS__)
