#include "hotaru/provider/ort/session.h"

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/onnx/onnx_file.h"
#include "hotaru/io/onnx/onnx_writer.h"

namespace hotaru::provider::ort {

namespace {

const OrtMemoryInfo* cpu_memory(const Library& library) {
  static const OrtMemoryInfo* const memory = [&] {
    OrtMemoryInfo* made = nullptr;
    library.check(library.api.CreateCpuMemoryInfo(kDeviceAllocator,
                                                  kDefaultMemory, &made),
                  library.path);
    return made;
  }();
  return memory;
}

/// One value over the memory of a tensor. Making one costs as much as a small
/// kernel, and calls often find their tensors where earlier ones lay: so it
/// remembers a few. They own nothing, and memory that went is not touched.
class Slot {
 public:
  Slot(const Library& library, DType dtype)
      : library_(library), element_type_(int(io::onnx::data_type_of(dtype))) {}
  Slot(Slot&&) = default;
  Slot& operator=(Slot&&) = delete;
  ~Slot() {
    for (const Known& known : known_) library_.api.ReleaseValue(known.value);
  }

  OrtValue* value_of(const Tensor& t, const std::string& what) {
    static char nothing;
    void* data = t.numel() > 0 ? t.address() : &nothing;
    for (const Known& known : known_)
      if (known.data == data && same(known.sizes, t.sizes()))
        return known.value;
    OrtValue* value = nullptr;
    library_.check(
        library_.api.CreateTensorWithDataAsOrtValue(
            cpu_memory(library_), data, size_t(t.numel()) * itemsize(t.dtype()),
            t.sizes().data(), t.sizes().size(), element_type_, &value),
        what);
    if (known_.size() < kKnown) {
      known_.push_back({data, t.sizes(), value});
    } else {
      Known& oldest = known_[next_++ % kKnown];
      library_.api.ReleaseValue(oldest.value);
      oldest = {data, t.sizes(), value};
    }
    return value;
  }

 private:
  static constexpr size_t kKnown = 3;
  struct Known {
    void* data;
    Dims sizes;
    OrtValue* value;
  };
  const Library& library_;
  const int element_type_;
  std::vector<Known> known_;
  size_t next_ = 0;
};

/// Memory of an output that the session made.
struct ValueOwner final : RefCounted {
  ValueOwner(Ref<const SessionHandle> handle, OrtValue* value)
      : handle(std::move(handle)), value(value) {}
  ~ValueOwner() override { handle->library.api.ReleaseValue(value); }

  const Ref<const SessionHandle> handle;
  OrtValue* const value;
};

/// A tensor over what an owner has.
Tensor wrap(const Ref<ValueOwner>& owner, const std::string& what) {
  const Library& library = owner->handle->library;
  const Api& api = library.api;
  OrtValue* const value = owner->value;
  int kind = 0, element = 0;
  library.check(api.GetValueType(value, &kind), what);
  HOTARU_CHECK(kind == kTypeTensor, what, " is no tensor");
  Owned<OrtTensorInfo> info(api.ReleaseTensorTypeAndShapeInfo);
  library.check(api.GetTensorTypeAndShape(value, info.out()), what);
  library.check(api.GetTensorElementType(info.get(), &element), what);
  size_t rank = 0;
  library.check(api.GetDimensionsCount(info.get(), &rank), what);
  std::vector<int64_t> sizes(rank);
  library.check(api.GetDimensions(info.get(), sizes.data(), rank), what);
  void* data = nullptr;
  library.check(api.GetTensorMutableData(value, &data), what);
  const auto dtype = io::onnx::dtype_of(element);
  HOTARU_CHECK(dtype, what, " has elements that tensors cannot hold");
  const Dims dims(sizes), strides = contiguous_strides(dims);
  const size_t nbytes = storage_bytes(dims, itemsize(*dtype));
  return make_tensor(make_ref<Storage>(data, nbytes, Device{}, owner), *dtype,
                     dims, strides, 0);
}

}  // namespace

SessionHandle::~SessionHandle() {
  if (session) library.api.ReleaseSession(session);
}

/// Operands as values, and the call on them.
class Session::Bound {
 public:
  explicit Bound(const Session& session) : session_(session) {
    slots_.reserve(session.inputs().size() + session.outputs().size());
    for (const auto* ports : {&session.inputs(), &session.outputs()})
      for (const Port& port : *ports)
        slots_.emplace_back(session.handle_->library, port.dtype);
    values_.resize(slots_.size());
  }

  /// Without outputs the session makes them.
  void bind(Operands inputs, Operands outputs) {
    const size_t n = inputs.size();
    for (size_t i = 0; i < n; ++i)
      values_[i] = slots_[i].value_of(*inputs[i], session_.name());
    for (size_t i = n; i < values_.size(); ++i)
      values_[i] = outputs.empty()
                       ? nullptr
                       : slots_[i].value_of(*outputs[i - n], session_.name());
  }

  void run() {
    const SessionHandle& handle = *session_.handle_;
    handle.environment.check_process();
    const size_t n = session_.input_names_.size();
    handle.library.check(
        handle.library.api.Run(handle.session, nullptr,
                               session_.input_names_.data(), values_.data(), n,
                               session_.output_names_.data(),
                               values_.size() - n, values_.data() + n),
        session_.name());
  }

  /// Outputs that the session made.
  std::span<OrtValue* const> outputs() const {
    return std::span(values_).subspan(session_.input_names_.size());
  }

 private:
  const Session& session_;
  std::vector<Slot> slots_;
  std::vector<OrtValue*> values_;
};

/// A Bound that no other call uses, for a scope.
class Session::Turn {
 public:
  explicit Turn(const Session& session) : session_(session) {
    for (auto& spare : session.spares_)
      if ((bound_ = spare.exchange(nullptr, std::memory_order_acquire))) return;
    bound_ = new Bound(session);
  }
  ~Turn() {
    for (auto& spare : session_.spares_) {
      Bound* none = nullptr;
      if (spare.compare_exchange_strong(none, bound_, std::memory_order_release,
                                        std::memory_order_relaxed))
        return;
    }
    delete bound_;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  Bound* operator->() const { return bound_; }

 private:
  const Session& session_;
  Bound* bound_ = nullptr;
};

class Session::Prepared final : public PreparedCall {
 public:
  Prepared(const Session& session, Operands inputs, Operands outputs)
      : bound_(session) {
    bound_.bind(inputs, outputs);
  }
  void run() override { bound_.run(); }

 private:
  Bound bound_;
};

Session::Session(Ref<SessionHandle> handle, std::string name,
                 std::vector<Port> inputs, std::vector<Port> outputs)
    : Executable(concat("ONNX Runtime ", handle->library.version),
                 std::move(name), std::move(inputs), std::move(outputs)),
      handle_(std::move(handle)) {
  for (const Port& port : this->inputs())
    input_names_.push_back(port.name.c_str());
  for (const Port& port : this->outputs())
    output_names_.push_back(port.name.c_str());
}

Session::~Session() {
  for (auto& spare : spares_) delete spare.load();
}

void Session::run(Operands inputs, Operands outputs) const {
  const Turn turn(*this);
  turn->bind(inputs, outputs);
  turn->run();
}

std::vector<Tensor> Session::run_fresh(Operands inputs) const {
  const Turn turn(*this);
  turn->bind(inputs, {});
  turn->run();
  // All are owned before any is looked at.
  std::vector<Ref<ValueOwner>> owners;
  for (OrtValue* value : turn->outputs())
    owners.push_back(make_ref<ValueOwner>(handle_, value));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < owners.size(); ++i)
    tensors.push_back(
        wrap(owners[i], concat(name(), ": output '", outputs()[i].name, "'")));
  return tensors;
}

std::unique_ptr<PreparedCall> Session::prepare(Operands inputs,
                                               Operands outputs) const {
  return std::make_unique<Prepared>(*this, inputs, outputs);
}

}  // namespace hotaru::provider::ort
