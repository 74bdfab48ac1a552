#include "hotaru/backend/cuda/libraries/cudnn_graph.h"

#include <array>
#include <memory>

#include "hotaru/backend/cuda/launch.h"

namespace hotaru::cuda::dnn {

Cudnn::Cudnn() {
  library.find(version, "cudnnGetVersion");
#define HOTARU_FIND(name, symbol, params) library.find(name, #symbol);
  HOTARU_CUDNN_ENTRIES(HOTARU_FIND)
  HOTARU_CUDNN_RNN_ENTRIES(HOTARU_FIND)
#undef HOTARU_FIND
}

void check_dnn(int status, const char* what) {
  check_library(Cudnn::kName, status, what);
}

Owned::Owned(DescriptorType type) {
  check_dnn(opened<Cudnn>().make(type, &handle_),
            "cudnnBackendCreateDescriptor");
}

void Owned::reset() {
  if (handle_) opened<Cudnn>().destroy(handle_);
  handle_ = nullptr;
}

void Owned::set(Attribute attribute, ValueType type, int64_t count,
                const void* values) {
  check_dnn(opened<Cudnn>().set(handle_, attribute, type, count, values),
            "cudnnBackendSetAttribute");
}

int64_t Owned::get(Attribute attribute, ValueType type, int64_t wanted,
                   void* values) const {
  int64_t count = 0;
  check_dnn(
      opened<Cudnn>().get(handle_, attribute, type, wanted, &count, values),
      "cudnnBackendGetAttribute");
  return count;
}

bool Owned::finalize() {
  return opened<Cudnn>().finalize(handle_) == kSuccess;
}

void Owned::finish(const char* what) {
  check_dnn(opened<Cudnn>().finalize(handle_), what);
}

Context& context_of(const Cudnn& dnn, int device) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::array<Context, kMostDevices>;
  const std::lock_guard lock(*mutex);
  Context& context = (*all)[size_t(device)];
  if (!context.handle) {
    use(device);
    check_dnn(dnn.create(&context.handle), "cudnnCreate");
  }
  return context;
}

Context& context_here(const Cudnn& dnn) {
  return context_of(dnn, launching_timeline().device());
}

}  // namespace hotaru::cuda::dnn
